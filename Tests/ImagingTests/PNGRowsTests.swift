import Testing

@testable import Imaging

@Suite struct PNGRowsTests {
  @Test(
    "pixels of many chunks are those of the source, also of rows longer than a chunk",
    arguments: ["L", "LA", "RGB", "RGBA"], [(301, 407), (70_001, 3), (1, 90_000)])
  func chunks(_ mode: String, _ size: (Int, Int)) throws {
    let fixture = try PassFixture()
    let printed = try fixture.compare(
      make: """
        samples = np.random.default_rng(1).integers(0, 256, (\(size.1), \(size.0), len('\(mode)')), 'u1')
        Image.fromarray(samples.squeeze(2) if '\(mode)' == 'L' else samples).save(sys.argv[1], 'PNG')
        """,
      recipe: "none",
      check: """
        data = open(sys.argv[2], 'rb').read()
        a, b = Image.open(sys.argv[1]), Image.open(sys.argv[2])
        print(a.mode == b.mode, np.array_equal(np.asarray(a), np.asarray(b)), data.count(b'IDAT') > 1)
        """)
    #expect(printed == "True True True")
  }

  @Test("rows of flat areas with sharp edges are not filtered, gradients are")
  func flatRows() throws {
    func filters(_ script: String) throws -> String {
      try PassFixture().compare(
        make: script + "\nImage.fromarray(a.astype('u1')).save(sys.argv[1], 'PNG')", recipe: "none",
        check: "print(row_filters(open(sys.argv[2], 'rb').read()))")
    }
    #expect(try filters("a = np.repeat(np.random.default_rng(1).integers(0, 2, (40, 30, 3)) * 200, 16, 1)") == "{0}")
    #expect(try filters("a = np.tile(np.arange(512)[:, None] // 8, (40, 1, 3))") == "{1, 2}")
    #expect(try filters("a = np.zeros((40, 50, 3))") == "{1}")
  }

  @Test(
    "photographs are about as small as the same rows compressed by zlib at level 2, or smaller",
    arguments: PassFixture.jpegSamples)
  func sizes(_ name: String) throws {
    let printed = try PassFixture().compare(
      make: "Image.open('\(PassFixture.sample(name))').convert('RGB').save(sys.argv[1], 'PNG')", recipe: "sepia(0.8)",
      check: """
        data = open(sys.argv[2], 'rb').read()
        packer = zlib.compressobj(2, strategy=zlib.Z_FILTERED)
        rows = stored_rows(data)[0].tobytes()
        print(len(data) < 1.03 * len(packer.compress(rows) + packer.flush()))
        """)
    #expect(printed == "True")
  }

  @Test("pictures that are too large to be held are compressed row by row")
  func large() throws {
    let printed = try PassFixture().compare(
      make: """
        samples = np.random.default_rng(1).integers(0, 9, (2000, 1500, 3), 'u1')
        Image.fromarray(samples).save(sys.argv[1], 'PNG')
        """,
      recipe: "none",
      check: """
        a, b = Image.open(sys.argv[1]), Image.open(sys.argv[2])
        print(np.array_equal(np.asarray(a), np.asarray(b)), row_filters(open(sys.argv[2], 'rb').read()))
        """)
    #expect(printed == "True {1, 2}")
  }
}
