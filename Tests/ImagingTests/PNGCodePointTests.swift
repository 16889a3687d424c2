import Testing

@testable import Imaging

@Suite struct PNGCodePointTests {
  /// Python that makes a picture with some chunks, and computes what it is in sRGB.
  private static let prelude = #"""
    from PIL import ImageCms
    y, x = np.mgrid[0:64, 0:96]
    samples = np.stack([128 + 127 * np.sin(x / (9 + 4 * i) + y / (7 + 3 * i) + i) for i in range(3)], -1).round().astype(int)
    POINTS = {1: ((.64, .33), (.30, .60), (.15, .06)), 9: ((.708, .292), (.170, .797), (.131, .046)),
      12: ((.68, .32), (.265, .69), (.15, .06))}
    def to_xyz(points):
        primaries = np.array([[x / y, 1, (1 - x - y) / y] for x, y in points]).T
        return primaries * np.linalg.solve(primaries, [.3127 / .329, 1, (1 - .3127 - .329) / .329])
    def in_srgb(values, points, transfer):
        gamma = {4: 2.2, 5: 2.8, 8: 1}.get(transfer)
        v = np.where(values <= .04045, values / 12.92, ((values + .055) / 1.055) ** 2.4) if gamma is None else values ** gamma
        if values.shape[-1] == 3: v = np.clip(v @ (np.linalg.inv(to_xyz(POINTS[1])) @ to_xyz(POINTS[points])).T, 0, 1)
        return np.where(v <= .0031308, 12.92 * v, 1.055 * v ** (1 / 2.4) - .055)
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
    CHUNKS = {'iCCP': chunk(b'iCCP', b'x\0\0' + zlib.compress(srgb)), 'sRGB': chunk(b'sRGB', b'\0'),
      'gAMA': chunk(b'gAMA', struct.pack('>I', 100000)),
      'cHRM': chunk(b'cHRM', struct.pack('>8I', 31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000))}
    def cicp(*numbers): return chunk(b'cICP', bytes(numbers))
    def write(path, depth, kind, *chunks):
        stored = samples[:, :, :{0: 1, 2: 3}[kind]] * (257 if depth == 16 else 1)
        open(path, 'wb').write(png(stored, depth, kind, before=b''.join(CHUNKS.get(c, c) for c in chunks)))

    """#

  @Test(
    "code points are converted to sRGB, and not written",
    arguments: [(12, 13), (9, 13), (9, 1), (1, 8), (1, 4), (12, 5), (9, 16)], [(0, 8), (2, 8), (2, 16)])
  func converted(_ colour: (Int, Int), _ stored: (kind: Int, depth: Int)) throws {
    let fixture = try PassFixture()
    let paths = ["in", "out"].map(fixture.folder.file)
    let call = "write(sys.argv[1], \(stored.depth), \(stored.kind), cicp(\(colour.0), \(colour.1), 0, 1))"
    _ = try PassFixture.python(Self.prelude + call, paths)
    try fixture.pass(paths[0], to: paths[1])
    let printed = try PassFixture.python(
      Self.prelude + """
        data = open(sys.argv[2], 'rb').read()
        result, depth, kind = read_png(data)
        most = 255 if depth == 8 else 65535
        wanted = in_srgb(samples[:, :, :result.shape[2]] / 255, \(colour.0), \(colour.1)) * most
        print(depth, kind, b'cICP' in data, np.abs(result - wanted).max() / most * 255 <= 2)
        """, paths)
    // Grey with sRGB's curve is as it is, and so is what the file says of it.
    let isKept = stored.kind == 0 && ![4, 5, 8].contains(colour.1)
    #expect(printed == "\(stored.depth) \(stored.kind) \(isKept ? "True" : "False") True")
  }

  @Test(
    "code points come before all other chunks, unless they are invalid, or of HDR and there is another",
    arguments: [
      ("cicp(1, 8, 0, 1), 'iCCP', 'sRGB'", "linear", ""), ("'sRGB', 'gAMA', cicp(1, 8, 0, 1)", "linear", ""),
      ("'gAMA', 'cHRM', cicp(1, 13, 0, 1)", "as is", "cICP"), ("'iCCP', cicp(1, 1, 0, 1)", "as is", "cICP"),
      ("cicp(1, 16, 0, 1)", "as is", "cICP"), ("cicp(1, 18, 0, 1), 'cHRM'", "as is", "cICP"),
      ("cicp(9, 16, 0, 1), 'gAMA'", "linear", ""), ("cicp(9, 18, 0, 1), 'sRGB'", "as is", "sRGB"),
      ("cicp(1, 8, 1, 1), 'sRGB'", "as is", "sRGB"), ("cicp(1, 8, 0, 0), 'sRGB'", "as is", "sRGB"),
      ("cicp(1, 8, 0, 1, 0)", "as is", ""), ("cicp(1, 8)", "as is", ""), ("cicp()", "as is", ""),
    ])
  func precedence(_ chunks: String, _ meaning: String, _ kept: String) throws {
    let fixture = try PassFixture()
    let paths = ["in", "out"].map(fixture.folder.file)
    _ = try PassFixture.python(Self.prelude + "write(sys.argv[1], 8, 2, \(chunks))", paths)
    try fixture.pass(paths[0], to: paths[1])
    let printed = try PassFixture.python(
      Self.prelude + """
        data = open(sys.argv[2], 'rb').read()
        wanted = in_srgb(samples / 255, 1, 8) * 255 if '\(meaning)' == 'linear' else samples
        close = np.abs(read_png(data)[0] - wanted).max() <= (2 if '\(meaning)' == 'linear' else 0)
        print(close, *(n for n in ('cICP', 'iCCP', 'sRGB', 'gAMA', 'cHRM') if n.encode() in data))
        """, paths)
    #expect(printed == (kept.isEmpty ? "True" : "True \(kept)"))
    // A copy has the same colours as its source, whatever the chunks mean.
    let file = try ScratchFile()
    let bytes = try PassFixture.bytes(paths[0])
    try file.write(bytes)
    #expect(try file.copied(.none).bytes == bytes)
  }

  /// The numbers of H.273 tables 2 and 3, some that are reserved, and the ends of the range.
  private static let primaries = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 22, 255]
  private static let transfers = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 255]

  @Test("every number is one of a colour space that is known, or is taken for sRGB's")
  func everyNumber() throws {
    let fixture = try PassFixture()
    let colours =
      Self.primaries.flatMap { [($0, 13), ($0, 8)] } + Self.transfers.flatMap { [(1, $0), (9, $0)] }
    let words = colours.map { "\($0.0) \($0.1)" }
    _ = try PassFixture.python(
      Self.prelude + """
        for n, words in enumerate(sys.argv[2:]):
            write(f'{sys.argv[1]}/{n}', 8, 2, cicp(*map(int, words.split()), 0, 1))
        """, [fixture.folder.path] + words)
    for number in colours.indices {
      try fixture.pass(fixture.folder.file("\(number)"), to: fixture.folder.file("\(number).out"))
    }
    let printed = try PassFixture.python(
      Self.prelude + """
        for n, words in enumerate(sys.argv[2:]):
            points, transfer = map(int, words.split())
            result = read_png(open(f'{sys.argv[1]}/{n}.out', 'rb').read())[0]
            wanted = in_srgb(samples / 255, points if points in (9, 12) else 1, transfer) * 255
            if points not in (9, 12) and transfer not in (4, 5, 8): wanted = samples
            if np.abs(result - wanted).max() > (0 if wanted is samples else 2): print(words)
        """, [fixture.folder.path] + words)
    #expect(printed == "")
  }
}
