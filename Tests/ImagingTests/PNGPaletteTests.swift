import Testing

@testable import Imaging

@Suite struct PNGPaletteTests {
  private static let options = OutputOptions(format: .png, pngPalette: .lossless)

  /// What is printed of the result of a picture that a script makes as `p`: mode, bits and length of `tRNS`, once its pixels and
  /// metadata are found to be those of the result without a palette.
  private func result(_ script: String, recipe: String = "none") throws -> String {
    let fixture = try PassFixture()
    _ = try PassFixture.python("o = {}\n" + script + "\np.save(sys.argv[1], 'PNG', **o)", [fixture.folder.file("in")])
    for (name, palette) in [("plain", PNGPalette.off), ("out", .lossless)] {
      try fixture.pass(
        fixture.folder.file("in"), to: fixture.folder.file(name), recipe: recipe,
        options: OutputOptions(format: .png, pngPalette: palette, metadata: .all))
    }
    return try PassFixture.python(
      """
      plain, out = (Image.open(f'{sys.argv[1]}/{name}') for name in ('plain', 'out'))
      bits = open(f'{sys.argv[1]}/out', 'rb').read()
      lost = bits.find(b'tRNS')
      for image in (plain, out): image.load()
      assert np.array_equal(np.asarray(out.convert('RGBA')), np.asarray(plain.convert('RGBA')))
      for key in ('dpi', 'gamma', 'srgb', 'icc_profile', 'exif'): assert out.info.get(key) == plain.info.get(key)
      print(out.mode, bits[24], 0 if lost < 0 else int.from_bytes(bits[lost - 4:lost], 'big'))
      """, [fixture.folder.path])
  }

  @Test(
    "as few bits as the colours need, with the same pixels",
    arguments: [
      (1, "P 1 0"), (2, "P 1 0"), (3, "P 2 0"), (5, "P 4 0"), (17, "P 8 0"), (256, "P 8 0"), (257, "RGB 8 0"),
    ])
  func colours(_ count: Int, _ expected: String) throws {
    let printed = try result(
      """
      a = np.arange(37 * 41) % \(count)
      p = Image.fromarray(np.stack([a % 251, a // 251 * 7, 255 - a % 256], -1).astype('u1').reshape(37, 41, 3))
      """)
    #expect(printed == expected)
  }

  @Test("colours of different transparency are different; those that are opaque take no room in tRNS")
  func transparency() throws {
    func script(columns: Int) -> String {
      """
      a = np.full((40, \(columns), 4), 255, 'u1')
      a[:, :, 0] = np.arange(\(columns))
      a[:3, :, 3] = np.array([[0], [50], [254]])
      a[3:, 0, 3] = 128
      p = Image.fromarray(a)
      """
    }
    // Each column has three colours in the first rows, and one below, which is opaque except in the first column.
    #expect(try result(script(columns: 64)) == "P 8 193")
    #expect(try result(script(columns: 65)) == "RGBA 8 0")
  }

  @Test("grey has a palette when that is smaller: with alpha, or with at most 16 levels")
  func grey() throws {
    let ramp = "a = (np.arange(64 * 64) % n * (255 // n)).astype('u1').reshape(64, 64)\n"
    #expect(try result("n = 16\n" + ramp + "p = Image.fromarray(a)") == "P 4 0")
    #expect(try result("n = 17\n" + ramp + "p = Image.fromarray(a)") == "L 8 0")
    #expect(try result("n = 85\n" + ramp + "p = Image.fromarray(np.dstack([a, 255 - a * (a < 9)]), 'LA')") == "P 8 2")
  }

  @Test("every path to the result, and its metadata")
  func paths() throws {
    func script(_ count: Int) -> String {
      """
      from PIL import ImageCms
      p = Image.open('\(PassFixture.sample("chelsea-small.png"))').convert('RGB').quantize(\(count)).convert('RGB')
      profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
      o = dict(dpi=(300, 300), icc_profile=profile)
      """
    }
    #expect(try result(script(256), recipe: "sepia(0.8)").hasPrefix("P 8"))
    #expect(try result(script(9), recipe: "invert(1) flop()") == "P 4 0")
    #expect(try result(script(9), recipe: "opacity(0.5)") == "P 4 9")
    #expect(try result(script(256), recipe: "resize(fit 100 100)") == "RGB 8 0")
  }

  @Test("the indices count as memory of a whole picture, and only when a palette is possible")
  func memory() throws {
    let fixture = try PassFixture()
    let (input, output) = (fixture.folder.file("in"), fixture.folder.file("out"))
    func pass(_ limit: Int, _ options: OutputOptions) throws {
      let limits = ImageLimits(memory: WholePictureMemory(limit: limit))
      try fixture.pass(input, to: output, options: options, limits: limits)
    }
    _ = try PassFixture.python("Image.new('RGB', (601, 500)).save(sys.argv[1], 'PNG')", [input])
    try pass(601 * 500, Self.options)
    let error = #expect(throws: ImagingError.self) { try pass(601 * 500 - 1, Self.options) }
    #expect(error?.code == .imageTooLarge)
    try pass(0, OutputOptions(format: .png))
    _ = try PassFixture.python("Image.new('I;16', (601, 500)).save(sys.argv[1], 'PNG')", [input])
    try pass(0, Self.options)
  }

  @Test("a full disk and cancellation are noticed when the file is written at the end")
  func atTheEnd() throws {
    let fixture = try PassFixture()
    let input = fixture.folder.file("in")
    _ = try PassFixture.python("Image.new('RGB', (300, 200)).save(sys.argv[1], 'PNG')", [input])
    let full = #expect(throws: ImagingError.self) { try fixture.pass(input, to: "/dev/full", options: Self.options) }
    #expect(full?.code == .io)
    func calls(upTo last: Int = .max) throws -> Int {
      var calls = 0
      try fixture.pass(input, to: fixture.folder.file("out"), options: Self.options) {
        calls += 1
        return calls > last
      }
      return calls
    }
    let all = try calls()
    let cancelled = #expect(throws: ImagingError.self) { _ = try calls(upTo: all - 1) }
    #expect(cancelled?.code == .cancelled)
  }

  @Test("cancellation is noticed while the rows are written that have turned out to have too many colours")
  func tooManyColours() throws {
    let fixture = try PassFixture()
    let input = fixture.folder.file("in")
    _ = try PassFixture.python(
      """
      a = np.zeros((400, 300, 3), 'u1')
      a[-1, :, 0] = np.arange(300) % 256; a[-1, :, 1] = np.arange(300) // 256
      Image.fromarray(a).save(sys.argv[1], 'PNG')
      """, [input])
    func calls(_ palette: PNGPalette, upTo last: Int = .max) throws -> Int {
      var calls = 0
      let options = OutputOptions(format: .png, pngPalette: palette)
      try fixture.pass(input, to: fixture.folder.file("out"), options: options) {
        calls += 1
        return calls > last
      }
      return calls
    }
    let (plain, indexed) = (try calls(.off), try calls(.lossless))
    #expect(indexed == plain + 50)
    let error = #expect(throws: ImagingError.self) { _ = try calls(.lossless, upTo: indexed - 2) }
    #expect(error?.code == .cancelled)
  }
}
