import Testing

@testable import Imaging

/// What is read up to the last byte of PNG and GIF, where damage is accepted (`DamagePolicy.accept`).
@Suite struct LastBytesTests {
  private static let prelude = """
    def rebuilt(data, change):
        '''A PNG whose pixels are one chunk, with its zlib stream changed.'''
        at, chunks = 8, []
        while at < len(data):
            size = int.from_bytes(data[at:at + 4], 'big')
            chunks.append((data[at + 4:at + 8], data[at + 8:at + 8 + size]))
            at += 12 + size
        stream = b''.join(content for name, content in chunks if name == b'IDAT')
        first = [name for name, _ in chunks].index(b'IDAT')
        kept = [c for c in chunks if c[0] != b'IDAT']
        return data[:8] + b''.join(chunk(*c) for c in [*kept[:first], (b'IDAT', change(stream)), *kept[first:]])

    def saved(pixels, form):
        picture, stored = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels), io.BytesIO()
        picture.save(stored, form, **(dict(interlace=False, optimize=False) if form == 'GIF' else {}))
        return stored.getvalue()

    noise = np.random.default_rng(2).integers(0, 256, (64, 80, 4)).astype('u1')

    """

  /// The rows that are read of files which are made of one, `whole`. Where damage is not accepted these are errors.
  private func rows(
    _ whole: String, _ endings: [String], recipe: String = "none", of height: Int
  ) throws -> [Int] {
    let fixture = try PassFixture()
    _ = try PassFixture.python(
      Self.prelude + """
        whole = \(whole)
        for n, data in enumerate([whole, \(endings.joined(separator: ", "))]):
            open(f'{sys.argv[1]}/{n}', 'wb').write(data)
        """, [fixture.folder.path])
    try fixture.pass(
      fixture.folder.file("0"), to: fixture.folder.file("0.out"), recipe: recipe, options: OutputOptions(format: .png))
    var counts: [Int] = []
    for number in 1...endings.count {
      let path = fixture.folder.file("\(number)")
      let failure = try fixture.code(of: PassFixture.bytes(path), recipe: recipe)
      #expect(failure == .imageTruncated || failure == .imageCorrupt, "\(endings[number - 1])")
      let damage = try fixture.pass(
        path, to: path + ".out", recipe: recipe, options: OutputOptions(format: .png, damaged: .accept)
      ).damage
      let text = try #require(damage?.text, "\(endings[number - 1])")
      // In its last pass an interlaced picture has all rows, and where the checksum of all pixels is wrong.
      let hasAll = damage?.kind == .harmless ? ["after all rows: "] : ["in pass 7: ", "somewhere: "]
      if hasAll.contains(where: text.hasPrefix) {
        counts.append(height)
        continue
      }
      #expect(damage?.kind == .pixels)
      let match = try #require(text.firstMatch(of: /^after (\d+) of (\d+) rows?: ./), "\(text)")
      #expect(Int(match.2) == height)
      counts.append(try #require(Int(match.1)))
    }
    // These rows are those of the whole picture, and the rest is empty.
    let printed = try PassFixture.python(
      """
      a, *others = (np.asarray(Image.open(f'{sys.argv[1]}/{n}.out').convert('RGBA')) for n in range(len(sys.argv) - 1))
      print(*(np.array_equal(a[:int(n)], b[:int(n)]) and not b[int(n):, :, :3].any() for n, b in zip(sys.argv[2:], others)))
      """, [fixture.folder.path] + counts.map(String.init))
    #expect(printed == counts.map { _ in "True" }.joined(separator: " "))
    return counts
  }

  /// Without the last byte, the last chunk, the checksum of the pixels' chunk, and that of all pixels.
  private static let cut = [1, 12, 14, 16, 18, 20].map { "whole[:-\($0)]" }
  /// With a wrong checksum of all pixels, and without it, in chunks with right ones.
  private static let rebuilt = [
    "rebuilt(whole, lambda s: s[:-1] + bytes([s[-1] ^ 1]))", "rebuilt(whole, lambda s: s[:-4])",
  ]

  @Test(
    "of PNG the last row is read, whatever is wrong behind it",
    arguments: [
      ("noise[:9, :31, :3]", "none", 9), ("noise[:1, :1, :3]", "none", 1), ("noise", "flop()", 64),
      ("noise[:20, :20, 0]", "sepia(1)", 20), ("noise[:20, :20, 0]", "invert(1)", 20),
      ("noise[:63, :9, :3] // 128 * 255", "none", 63), ("Image.fromarray(noise[..., :3]).quantize(60)", "none", 64),
      ("noise[:20, :20, 0].astype('u2') * 257", "none", 20),
    ])
  func png(_ pixels: String, _ recipe: String, _ height: Int) throws {
    let endings = Self.cut + Self.rebuilt
    let rows = try rows("saved(\(pixels), 'PNG')", endings, recipe: recipe, of: height)
    #expect(rows == endings.map { _ in height })
  }

  @Test("of an interlaced PNG all passes are read")
  func interlaced() throws {
    let rows = try rows("png(noise.astype(int), 8, 6, True)", Self.cut, of: 64)
    #expect(rows == Self.cut.map { _ in 64 })
  }

  @Test("of GIF the rows of an incomplete block are read, and the last one without the end of the data")
  func gif() throws {
    // One block of data, of nine bits or more for each pixel.
    let missing = [2, 3, 30, 60, 100, 150]
    let rows = try rows("saved(noise[:12, :16, 0], 'GIF')", missing.map { "whole[:-\($0)]" }, of: 12)
    #expect(rows[0] == 12)
    for (count, missing) in zip(rows, missing) {
      #expect(count >= 11 - missing * 8 / 9 / 16, "\(missing) bytes are missing")
    }
  }
}
