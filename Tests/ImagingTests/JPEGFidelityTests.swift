import Foundation
import Testing

@testable import Imaging

@Suite struct JPEGFidelityTests {
  /// How a sample is stored again before it is read: arguments of Pillow's `save`, and the mode.
  static let storedKinds = [
    "RGB quality=92", "RGB quality=92 progressive=True", "RGB quality=92 subsampling=0", "RGB quality=92 subsampling=1",
    "L quality=92", "L quality=92 progressive=True", "RGB quality=92 keep_rgb=True",
  ]

  @Test(
    "a filtered sample equals Pillow's result",
    arguments: PassFixture.jpegSamples.map { ($0, "sepia(0.8)") }
      + ["none", "hue-rotate(90deg) contrast(1.3)", "grayscale(1)", "invert(1)"].map { ("chelsea.jpg", $0) })
  func samples(_ name: String, _ recipe: String) throws {
    try expectLikePillow(PassFixture.sample(name), recipe: recipe, quality: 85)
  }

  @Test("every kind of JPEG is decoded as by Pillow", arguments: storedKinds)
  func kinds(_ kind: String) throws {
    let fixture = try PassFixture()
    let words = kind.split(separator: " ").map(String.init)
    _ = try PassFixture.python(
      "Image.open(sys.argv[1]).convert('\(words[0])').save(sys.argv[2], 'JPEG', \(words.dropFirst().joined(separator: ", ")))",
      [PassFixture.sample("chelsea-small.png"), fixture.folder.file("kind")])
    try expectLikePillow(fixture.folder.file("kind"), recipe: "sepia(0.8)", quality: 85)
  }

  @Test(
    "from quality 90 the source's finer sampling is kept",
    arguments: [
      (0, 90, 0), (1, 95, 1), (2, 95, 2), (0, 89, 2), (1, 85, 2),
    ])
  func sampling(_ source: Int, _ quality: Int, _ expected: Int) throws {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      "Image.open(sys.argv[1]).save(sys.argv[2], 'JPEG', subsampling=\(source))",
      [PassFixture.sample("chelsea.jpg"), fixture.folder.file("in")])
    try fixture.pass(
      fixture.folder.file("in"), to: fixture.folder.file("out"), recipe: "sepia(0.8)",
      options: OutputOptions(quality: quality))
    let script = "from PIL import JpegImagePlugin as J; print(J.get_sampling(Image.open(sys.argv[1])))"
    #expect(try PassFixture.python(script, [fixture.folder.file("out")]) == "\(expected)")
  }

  @Test("a PNG becomes a 4:4:4 JPEG at quality 90 and 4:2:0 below", arguments: [(90, 0), (85, 2)])
  func fromPNG(_ quality: Int, _ expected: Int) throws {
    let fixture = try PassFixture()
    let result = try fixture.pass(
      PassFixture.sample("chelsea-small.png"), to: fixture.folder.file("out"),
      options: OutputOptions(format: .jpeg, quality: quality))
    #expect(result.source == ImageInfo(format: .png, width: 226, height: 150))
    #expect(result.output == ImageInfo(format: .jpeg, width: 226, height: 150))
    let script = """
      from PIL import JpegImagePlugin as J
      i = Image.open(sys.argv[1]); print(i.format, J.get_sampling(i), 'progressive' in i.info)
      """
    #expect(try PassFixture.python(script, [fixture.folder.file("out")]) == "JPEG \(expected) False")
  }

  @Test("alpha is flattened over white", arguments: ["none", "sepia(0.8)", "opacity(0.3)"])
  func white(_ recipe: String) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        y, x = np.mgrid[0:64, 0:72]
        rgba = np.stack([x * 3, y * 3, 200 + 0 * x, (x // 8) * 28], -1).clip(0, 255).astype('u1')
        Image.fromarray(rgba, 'RGBA').save(sys.argv[1])
        """,
      recipe: recipe, options: OutputOptions(format: .jpeg, quality: 95),
      check: """
        rgba = np.asarray(Image.open(sys.argv[1])).astype(float) / 255
        alpha = rgba[..., 3:] * (.3 if 'opacity' in sys.argv[3] else 1)
        expected = rounded(css(sys.argv[3], rgba[..., :3]) * alpha + 1 - alpha)
        print(psnr(expected, Image.open(sys.argv[2])) >= 38)
        """)
    #expect(printed == "True")
  }

  private func expectLikePillow(_ source: String, recipe: String, quality: Int) throws {
    let fixture = try PassFixture()
    let result = fixture.folder.file("out")
    try fixture.pass(source, to: result, recipe: recipe, options: OutputOptions(quality: quality))
    let printed = try PassFixture.python(
      """
      image = Image.open(sys.argv[1])
      pixels = np.asarray(image.convert('RGB')).astype(float) / 255
      expected = Image.fromarray(rounded(css(sys.argv[3], pixels)).astype('u1'), 'RGB')
      stored = io.BytesIO()
      result = Image.open(sys.argv[2])
      if result.mode == 'L': expected = expected.convert('L')
      expected.save(stored, 'JPEG', quality=\(quality), subsampling=2)
      print(psnr(Image.open(stored).convert('RGB'), result.convert('RGB')))
      """, [source, result, recipe])
    #expect((Double(printed) ?? 0) >= 40, "\(printed) dB")
  }
}
