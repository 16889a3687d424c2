import Foundation
import Testing

@testable import Imaging

/// JPEGs that the decoder reduces before they are resampled.
@Suite struct ScaledDecodingTests {
  @Test(
    "the result stays 40 dB from that of reading all, however the picture is turned", arguments: Orientation.allCases)
  func turned(_ orientation: Orientation) throws {
    let fixture = try PassFixture()
    let names = ["colour", "grey", "cmyk"]
    // Sides that are no multiple of 8, so that the reduced picture's last column and row are not whole ones.
    _ = try PassFixture.python(
      """
      exif = Image.Exif(); exif[0x0112] = \(orientation.rawValue)
      a = Image.open(sys.argv[1])
      a.crop((0, 0, 447, 299)).save(sys.argv[2], 'JPEG', quality=92, exif=exif)
      a.convert('L').crop((0, 0, 449, 297)).save(sys.argv[3], 'JPEG', quality=92, exif=exif, progressive=True)
      a.convert('CMYK').crop((0, 0, 449, 297)).save(sys.argv[4], 'JPEG', quality=92, exif=exif)
      """, [PassFixture.sample("chelsea.jpg")] + names.map(fixture.folder.file))
    let options = OutputOptions(format: .png)
    var results: [(name: String, path: String)] = []
    for name in names {
      for recipe in ["fit 170 170", "fit 60 60", "exact 41 23", "fill 50 90", "fit 20 20"] {
        let (path, resize) = (fixture.folder.file("\(results.count)"), "resize(\(recipe))")
        try fixture.pass(fixture.folder.file(name), to: path + ".reduced", recipe: resize, options: options)
        try fixture.pass(
          fixture.folder.file(name), to: path + ".whole", recipe: "crop(999 999) \(resize)", options: options)
        results.append(("\(name), \(recipe)", path))
      }
    }
    let distances = try PassFixture.python(
      """
      for path in sys.argv[1:]:
        a, b = Image.open(path + '.reduced'), Image.open(path + '.whole')
        assert (a.size, a.mode) == (b.size, b.mode)
        print(psnr(a, b))
      """, results.map(\.path)
    ).split(separator: "\n").compactMap { Double($0) }
    try #require(distances.count == results.count)
    for (result, decibels) in zip(results, distances) {
      // Exactly the same would mean that nothing was reduced.
      #expect(decibels >= 40 && decibels < 99, "\(result.name): \(decibels)")
    }
  }

  @Test(
    "chroma with a quarter of the columns or rows stays 40 dB, too",
    arguments: ["2x2", "2x1", "1x2", "4x1", "1x4", "4x2"])
  func chroma(_ sampling: String) throws {
    let fixture = try PassFixture()
    let path = fixture.folder.file("source")
    _ = try PassFixture.python(
      """
      import subprocess
      a = Image.open(sys.argv[1]).convert('RGB').save(sys.argv[2] + '.ppm')
      subprocess.run(['cjpeg', '-quality', '93', '-sample', '\(sampling)', '-outfile', sys.argv[2], sys.argv[2] + '.ppm'],
                     check=True)
      """, [PassFixture.sample("coffee.jpg"), path])
    let options = OutputOptions(format: .png)
    try fixture.pass(path, to: path + ".reduced", recipe: "resize(fit 30 30)", options: options)
    try fixture.pass(path, to: path + ".whole", recipe: "crop(9999 9999) resize(fit 30 30)", options: options)
    let decibels = try PassFixture.python(
      "print(psnr(Image.open(sys.argv[1] + '.reduced'), Image.open(sys.argv[1] + '.whole')))", [path])
    #expect(try #require(Double(decibels.split(separator: "\n").first ?? "")) >= 40, "\(decibels)")
  }

  @Test(
    "a picture is decoded at the smallest sufficient size",
    arguments: [
      ("fit 500 500", 8), ("fit 417 417", 8), ("fit 416 416", 4), ("fit 126 126", 4), ("fit 125 125", 2),
      ("fit 62 62", 1), ("exact 1 900", 8), ("fill 400 300", 4), ("fit 2000 2000 enlarge", 8),
    ])
  func eighths(_ arguments: String, _ expected: Int) throws {
    let layout = PixelLayout(isGrey: false, hasAlpha: false, is16Bit: false)
    func pipeline(_ recipe: String, _ reductions: [Int]) throws -> RowPipeline {
      RowPipeline(
        recipe: try Recipe(parsing: recipe), source: layout, size: PictureSize(width: 1000, height: 1000),
        reductions: reductions, format: .jpeg)
    }
    #expect(try pipeline("resize(\(arguments))", [1, 2, 4]).eighths == expected)
    #expect(try pipeline("resize(\(arguments))", []).eighths == 8)
    #expect(try pipeline("sepia(1) resize(\(arguments))", [1, 2, 4]).eighths == 8)
    let sizes = try [[1, 2, 4], []].map { try pipeline("resize(\(arguments))", $0).outputSize }
    #expect(sizes[0] == sizes[1])
  }

  @Test("damage is detected in a reduced picture, too")
  func damage() throws {
    let fixture = try PassFixture()
    let whole = try PassFixture.bytes(PassFixture.sample("chelsea.jpg"))
    #expect(try fixture.code(of: whole, recipe: "resize(fit 32 32)") == nil)
    #expect(try fixture.code(of: whole.dropLast(500), recipe: "resize(fit 32 32)") == .imageTruncated)
  }
}
