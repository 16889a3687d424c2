import Foundation
import Testing

@testable import Imaging

@Suite struct OrientationTests {
  @Test(
    "pixels of a PNG are turned as Pillow turns them", arguments: Orientation.allCases,
    ["L", "LA", "RGB", "RGBA", "I;16"])
  func png(_ orientation: Orientation, _ mode: String) throws {
    let fixture = try PassFixture()
    let sizes = [(37, 21), (1, 5), (16, 33)]
    let sources = sizes.map { fixture.folder.file("\($0.0)x\($0.1)") }
    _ = try PassFixture.python(
      """
      bands = {'L': 1, 'LA': 2, 'RGB': 3, 'RGBA': 4, 'I;16': 1}['\(mode)']
      deep = '\(mode)' == 'I;16'
      exif = Image.Exif(); exif[0x0112] = \(orientation.rawValue)
      kind = {1: 0, 2: 4, 3: 2, 4: 6}[bands]
      for path, (width, height) in zip(sys.argv[1:], \(sizes.map { [$0.0, $0.1] })):
          samples = np.random.default_rng(1).integers(0, 65536 if deep else 256, (height, width, bands))
          open(path, 'wb').write(
              png(samples, 16 if deep else 8, kind, before=chunk(b'eXIf', exif.tobytes()[6:])))
      """, sources)
    for source in sources {
      try fixture.pass(source, to: source + ".out", options: OutputOptions(format: .png, metadata: .all))
    }
    let printed = try PassFixture.python(
      """
      from PIL import ImageOps
      for path in sys.argv[1:]:
          a, b = Image.open(path), Image.open(path + '.out')
          upright = ImageOps.exif_transpose(a)
          assert b.getexif().get(0x0112, 1) == 1
          print(upright.size == b.size and bool((np.asarray(upright) == np.asarray(b)).all()), *a.size)
      """, sources)
    #expect(printed == sizes.map { "True \($0.0) \($0.1)" }.joined(separator: "\n"))
  }

  @Test(
    "a JPEG is made upright and filtered, and its orientation reset", arguments: Orientation.allCases,
    ["", ", progressive=True"])
  func jpeg(_ orientation: Orientation, _ kind: String) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        exif = Image.Exif(); exif[0x0112] = \(orientation.rawValue)
        Image.open('\(PassFixture.sample("chelsea-small.png"))').save(sys.argv[1], 'JPEG', quality=92, exif=exif\(kind))
        """,
      recipe: "sepia(0.8)",
      check: """
        from PIL import ImageOps
        a, b = (Image.open(p) for p in sys.argv[1:3])
        pixels = np.asarray(ImageOps.exif_transpose(a).convert('RGB')).astype(float) / 255
        stored = io.BytesIO()
        Image.fromarray(rounded(css(sys.argv[3], pixels)).astype('u1')).save(stored, 'JPEG', quality=85)
        print(b.getexif().get(0x0112, 1) == 1, psnr(Image.open(stored), b) >= 40)
        """)
    #expect(printed == "True True")
  }

  @Test("a flipped picture needs no memory for the whole, rotated ones do; the budget is shared and released")
  func budget() throws {
    let memory = WholePictureMemory(limit: 100_000)
    for (orientation, expected) in [(2, nil), (1, nil), (6, ImagingError.Code.imageTooLarge)] {
      let fixture = try PassFixture()
      _ = try PassFixture.python(
        """
        exif = Image.Exif(); exif[0x0112] = \(orientation)
        Image.new('RGB', (300, 200)).save(sys.argv[1], 'JPEG', exif=exif)
        """, [fixture.folder.file("in")])
      let bytes = try PassFixture.bytes(fixture.folder.file("in"))
      #expect(try fixture.code(of: bytes, limits: ImageLimits(memory: memory)) == expected)
      #expect(memory.bytesInUse == 0)
    }
  }

  @Test("a pass waits while the budget is used up, and can be cancelled")
  func waiting() throws {
    let memory = WholePictureMemory(limit: 100)
    let size = PictureSize(width: 1, height: 1)
    let first = try memory.share(60, for: size, isCancelled: { false })
    #expect(throws: ImagingError.self) { try memory.share(60, for: size, isCancelled: { true }) }
    let second = try memory.share(40, for: size, isCancelled: { false })
    #expect(memory.bytesInUse == 100)
    withExtendedLifetime((first, second)) {}
  }

  @Test("a picture in reused memory is the same as in new memory")
  func reusedMemory() throws {
    let fixture = try PassFixture()
    let memory = WholePictureMemory()
    // Blocks of all sizes: larger than the last, smaller, and of another shape.
    for (index, size) in ["(300, 200)", "(640, 480)", "(90, 500)", "(31, 17)"].enumerated() {
      _ = try PassFixture.python(
        """
        noise = np.random.default_rng(\(index)).integers(0, 256, \(size)[::-1] + (3,), 'u1')
        Image.fromarray(noise).save(sys.argv[1], 'JPEG', quality=95, progressive=True)
        """, [fixture.folder.file("in")])
      try fixture.pass(fixture.folder.file("in"), to: fixture.folder.file("new"), recipe: "invert(1)")
      try fixture.pass(
        fixture.folder.file("in"), to: fixture.folder.file("reused"), recipe: "invert(1)",
        limits: ImageLimits(memory: memory))
      #expect(try PassFixture.bytes(fixture.folder.file("new")) == PassFixture.bytes(fixture.folder.file("reused")))
      #expect(memory.bytesInUse == 0)
    }
    let (first, second) = (try memory.block(1000), try memory.block(1000))
    #expect(first.start != second.start)
  }
}
