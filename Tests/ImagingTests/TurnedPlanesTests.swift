import Foundation
import TestSupport
import Testing

@testable import Imaging

/// JPEGs with an orientation, whose stored planes are turned.
@Suite struct TurnedPlanesTests {
  private static let turns = Orientation.allCases.filter { $0 != .upright && $0 != .flipHorizontal }

  /// Planes whose samples tell their places.
  private final class Numbered: PlaneDecoder {
    let planes: [(size: PictureSize, blockRows: Int)]
    private var block = 0

    /// - Parameter isReduced: Whether chroma has the size of luma.
    init(_ size: PictureSize, _ chroma: ChromaSampling, isReduced: Bool) {
      let (horizontal, vertical) = isReduced ? (1, 1) : (chroma.horizontal, chroma.vertical)
      let reduced = PictureSize(
        width: (size.width + horizontal - 1) / horizontal, height: (size.height + vertical - 1) / vertical)
      planes = [(size, 8 * vertical), (reduced, 8), (reduced, 8)]
    }

    static func sample(_ plane: Int, _ column: Int, _ row: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: 31 * column + 57 * row + 101 * plane + column * row / 7)
    }

    func reduce(toEighths eighths: Int) {}
    func startPlanes(isCancelled: () -> Bool) {}
    func finish() {}

    func readBlocks(into rows: PlanePointers) {
      for (plane, (size, blockRows)) in planes.enumerated() {
        for index in 0..<blockRows {
          // Whole blocks are written, beyond the picture, too.
          for column in 0..<(size.width + 15) / 16 * 16 {
            rows[plane]?[index]?[column] = Self.sample(plane, column, block * blockRows + index)
          }
        }
      }
      block += 1
    }
  }

  @Test(
    arguments: turns,
    [ChromaSampling.yuv444, .yuv420, .init(horizontal: 2, vertical: 1), .init(horizontal: 1, vertical: 2)])
  func `each sample gets to its place, in planes of any size and sampling`(
    orientation: Orientation, chroma: ChromaSampling
  ) throws {
    for (width, height) in [(1, 1), (7, 5), (16, 16), (17, 33), (50, 34), (15, 80), (130, 2)] {
      for isReduced in [false, true] where !isReduced || chroma == .yuv420 {
        let stored = Numbered(PictureSize(width: width, height: height), chroma, isReduced: isReduced)
        let turned = TurnedPlanes(stored, orientation, chroma: chroma)
        try turned.startPlanes { false }
        let factor = isReduced ? 2 : 1
        let bytes = TurnedPlanes.bytes(
          of: PictureSize(width: factor * width, height: factor * height), eighths: 8 / factor, chroma: chroma)
        let held = stored.planes.map { StoredPlane.bytes(of: $0.size, blockRows: $0.blockRows) }.reduce(0, +)
        #expect((held...held + 64 * 300).contains(bytes), "what is held counts against the budget")
        let planes = turned.planes
        let buffers = planes.map { PlaneRingBuffer(size: $0.size, blockRows: $0.blockRows) }
        let pointers = BlockRowPointers(planes.map(\.blockRows))
        while buffers[0].delivered < planes[0].size.height {
          buffers.forEach { $0.dropAll() }
          let first = buffers.map { $0.deliver() }
          try turned.readBlocks(into: pointers.pointing { buffers[$0].row(first[$0] + $1) })
          for (plane, buffer) in buffers.enumerated() {
            let size = stored.planes[plane].size
            for row in first[plane]..<min(buffer.delivered, planes[plane].size.height) {
              let expected = (0..<planes[plane].size.width).map { column in
                let place = orientation.stored(column, row, width: size.width, height: size.height)
                return Numbered.sample(plane, place.column, place.row)
              }
              let found = Array(UnsafeBufferPointer(start: buffer.row(row), count: expected.count))
              try #require(found == expected, "\(width) × \(height), plane \(plane), row \(row)")
            }
          }
        }
        #expect(zip(buffers, planes).allSatisfy { $0.delivered >= $1.size.height })
      }
    }
  }

  @Test func `a side is reversed only if its last sample is of nothing beyond the picture`() {
    func canTurn(_ width: Int, _ height: Int, _ orientation: Orientation, eighths: Int = 8) -> Bool {
      TurnedPlanes.canTurn(
        PictureSize(width: width, height: height), to: orientation, eighths: eighths, chroma: .yuv420)
    }
    #expect(canTurn(5, 5, .transpose) && canTurn(5, 5, .transpose, eighths: 1))
    #expect(canTurn(5, 4, .rotate90) && !canTurn(4, 5, .rotate90))
    #expect(canTurn(4, 5, .rotate270) && !canTurn(5, 4, .rotate270))
    #expect(canTurn(5, 4, .flipVertical) && !canTurn(5, 4, .rotate180) && canTurn(4, 4, .rotate180))
    #expect(!canTurn(4, 5, .transverse) && !canTurn(5, 4, .transverse) && canTurn(4, 4, .transverse))
    #expect(canTurn(5, 24, .rotate90, eighths: 1) && !canTurn(5, 12, .rotate90, eighths: 1))
  }

  @Test(arguments: Orientation.allCases, ["1x1", "2x1", "2x2", "1x2", "2x2 -progressive"])
  func `planes come as near to the exact result as RGB does`(orientation: Orientation, sampling: String) throws {
    let fixture = try PassFixture()
    let recipes = [
      "sepia(0.8)", "resize(fit 301 301)", "resize(fit 170 170)", "resize(fit 61 61)", "resize(fit 40 40)",
      "resize(fit 20 20)",
      "resize(fill 90 90)",
    ]
    var arguments: [String] = []
    for (width, height) in [(448, 296), (449, 297)] {
      let source = fixture.folder.file("\(width)")
      _ = try PassFixture.python(
        """
        import subprocess
        stored, exif = io.BytesIO(), Image.Exif()
        exif[0x0112] = \(orientation.rawValue)
        Image.open('\(PassFixture.sample("chelsea.jpg"))').crop((0, 0, \(width), \(height))).save(stored, 'PPM')
        command = ['cjpeg', '-quality', '95', '-sample', *'\(sampling)'.split()]
        made = subprocess.run(command, input=stored.getvalue(), check=True, stdout=subprocess.PIPE).stdout
        part = exif.tobytes()
        segment = b'\\xff\\xe1' + (len(part) + 2).to_bytes(2, 'big') + part
        open(sys.argv[1], 'wb').write(made[:2] + segment + made[2:])
        """, [source])
      if width % 8 == 0, height % 8 == 0, orientation != .flipHorizontal {
        for recipe in recipes.prefix(3) { #expect(try Self.strategy(for: source, recipe) != "RowPass") }
      }
      for (number, recipe) in recipes.enumerated() {
        let (planes, colours) = (source + ".planes\(number)", source + ".colours\(number)")
        let options = OutputOptions(quality: 95)
        try fixture.pass(source, to: planes, recipe: recipe, options: options)
        // Another function, which does nothing here: planes take none with it.
        try fixture.pass(source, to: colours, recipe: recipe + " crop(999 999)", options: options)
        arguments += [source, recipe, planes, colours]
      }
    }
    let printed = try PassFixture.python(
      """
      from PIL import ImageOps
      for at in range(1, len(sys.argv), 4):
        source, recipe = ImageOps.exif_transpose(Image.open(sys.argv[at])), sys.argv[at + 1]
        planes, colours = (Image.open(p) for p in sys.argv[at + 2:at + 4])
        assert planes.size == colours.size and planes.getexif().get(0x0112, 1) == 1
        (w, h), (W, H) = source.size, planes.size
        if 'sepia' in recipe:
          exact = Image.fromarray(rounded(css(recipe, np.asarray(source).astype(float) / 255)).astype('u1'))
        else:
          scale = min(w / W, h / H) if 'fill' in recipe else 0
          box = ((w - W * scale) / 2, (h - H * scale) / 2, (w + W * scale) / 2, (h + H * scale) / 2) if scale else None
          exact = source.resize((W, H), Image.LANCZOS, box)
        print(*(psnr(picture, exact) for picture in (planes, colours)))
      """, arguments)
    let lines = printed.split(separator: "\n")
    try #require(lines.count == 2 * recipes.count)
    for (index, line) in lines.enumerated() {
      let distances = line.split(separator: " ").compactMap { Double($0) }
      try #require(distances.count == 2)
      #expect(distances[0] >= distances[1] - 0.3, "\(recipes[index % recipes.count]), \(index): \(distances)")
    }
  }

  private static func strategy(for source: String, _ recipe: String) throws -> String {
    let descriptor = open(source, O_RDONLY)
    defer { close(descriptor) }
    let decoder = try ImageFormat.open(descriptor, limits: ImageLimits())
    let plan = try ImagePass(recipe: Recipe(parsing: recipe)).plan(for: decoder, format: .jpeg)
    return "\(type(of: ImagePass.strategy(for: plan)))"
  }
}
