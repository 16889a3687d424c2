import Foundation
import TestSupport
import Testing

@testable import Imaging

/// Pictures with damaged pixels that are accepted (`DamagePolicy.accept`), made by Pillow and ImageMagick.
@Suite struct AcceptedDamageTests {
  /// Saves the photograph `rgb`, or the translucent `rgba`, as `path`.
  static let kinds: [(name: String, script: String)] = [
    ("jpeg", "rgb.save(path, 'JPEG', quality=90)"),
    ("jpeg grey", "rgb.convert('L').save(path, 'JPEG', quality=90)"),
    ("jpeg 4:4:4 with restarts", "rgb.save(path, 'JPEG', quality=90, subsampling=0, restart_marker_rows=1)"),
    ("jpeg progressive", "rgb.save(path, 'JPEG', quality=90, progressive=True)"),
    ("png", "rgb.save(path, 'PNG')"),
    ("png alpha", "rgba.save(path, 'PNG')"),
    ("png palette", "rgb.quantize(60).save(path, 'PNG')"),
    ("png interlaced", "rgba.save(path + '.png'); convert(path + '.png', '-interlace', 'PNG', 'PNG:' + path)"),
    ("gif", "rgb.quantize(60).save(path, 'GIF', interlace=False)"),
    ("gif interlaced", "rgb.quantize(60).save(path, 'GIF', interlace=True)"),
    ("bmp", "rgb.save(path, 'BMP')"),
    (
      "bmp runs",
      "rgb.quantize(60).save(path + '.png'); "
        + "convert(path + '.png', '-type', 'Palette', '-compress', 'RLE', 'BMP3:' + path)"
    ),
  ]

  private static let prelude = """
    import subprocess
    from PIL import ImageFile
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    rgb = Image.open('\(PassFixture.sample("chelsea.jpg"))').convert('RGB').resize((149, 203))
    rgba = rgb.copy()
    rgba.putalpha(Image.linear_gradient('L').resize(rgb.size))

    def convert(*words):
        subprocess.run(['convert-im6', *words], check=True)

    def samples(path):
        return np.asarray(Image.open(path).convert('RGBA')).astype(int)

    """

  private static let accepting = OutputOptions(format: .png, damaged: .accept)

  /// The bytes of a file of a kind.
  private func whole(_ script: String, _ fixture: PassFixture) throws -> [UInt8] {
    _ = try PassFixture.python(
      Self.prelude + "path = sys.argv[1]; " + script, [fixture.folder.file("whole")])
    return try PassFixture.bytes(fixture.folder.file("whole"))
  }

  /// One pass over bytes whose damage is accepted.
  private func accepted(
    _ bytes: some Sequence<UInt8>, _ fixture: PassFixture, as name: String = "accepted.png",
    recipe: String = "none", options: OutputOptions = accepting
  ) throws -> PictureDamage? {
    try fixture.pass(
      try fixture.write(bytes), to: fixture.folder.file(name), recipe: recipe, options: options
    ).damage
  }

  /// The rows that a text of damage says were read before it; all after the first scan or pass.
  private func rows(_ damage: PictureDamage?, of height: Int = 203) throws -> Int {
    let text = try #require(damage?.text)
    #expect(damage?.kind == .pixels)
    if text.hasPrefix("in scan ") || text.hasPrefix("in pass ") { return height }
    let match = try #require(text.firstMatch(of: /^after (\d+) of (\d+) rows: ./), "\(text)")
    #expect(Int(match.2) == height)
    return try #require(Int(match.1))
  }

  @Test("a cut off picture is read as far as it goes, and is an error where it is not accepted", arguments: kinds)
  func cut(_ kind: (name: String, script: String)) throws {
    let fixture = try PassFixture()
    let whole = try whole(kind.script, fixture)
    #expect(try accepted(whole, fixture, as: "all.png") == nil)
    for eighths in [3, 5, 7] {
      let bytes = whole.prefix(whole.count * eighths / 8)
      #expect(try fixture.code(of: bytes) == .imageTruncated)
      let rows = try rows(try accepted(bytes, fixture))
      #expect(rows > 203 * eighths / 8 / 2, "\(rows)")
      let printed = try PassFixture.python(
        Self.prelude + """
          all, ours = samples(sys.argv[1]), samples(sys.argv[2])
          rows, kind = int(sys.argv[3]), sys.argv[4]
          # Rows of the file, from the lowest one of a BMP, as far as chroma is not interpolated from missing rows.
          if kind.startswith('bmp'): all, ours = all[::-1], ours[::-1]
          refined = kind in ('jpeg progressive', 'png interlaced') or kind == 'gif interlaced'
          if refined:
              print(np.abs(all - ours).mean() < 30)
          else:
              read = rows - 1 if kind == 'jpeg' and rows < len(all) else rows
              rest = {'j': (128, 128, 128, 255), 'b': (0, 0, 0, 0 if 'runs' in kind else 255)}.get(
                  kind[0], (0, 0, 0, 0 if 'alpha' in kind else 255))
              print(np.array_equal(all[:read], ours[:read]) and bool((ours[min(rows + 17, 202):] == rest).all()))
          """,
        [fixture.folder.file("all.png"), fixture.folder.file("accepted.png"), "\(rows)", kind.name])
      #expect(printed == "True", "\(eighths)")
    }
  }

  @Test("a cut off picture is read as Pillow reads it", arguments: kinds)
  func asPillow(_ kind: (name: String, script: String)) throws {
    // Pillow leaves later passes empty, fills palettes with their first colour, and is behind with GIF.
    let others = ["interlaced", "gif", "palette", "runs"]
    guard !others.contains(where: kind.name.contains) else { return }
    let fixture = try PassFixture()
    let whole = try whole(kind.script, fixture)
    for eighths in [3, 5, 7] {
      _ = try accepted(whole.prefix(whole.count * eighths / 8), fixture)
      let printed = try PassFixture.python(
        Self.prelude + """
          theirs, ours = samples(sys.argv[1]), samples(sys.argv[2])
          different = np.abs(theirs - ours).max(axis=(1, 2)) > 2
          # A row that is read in part.
          print(different.sum() <= 1 or (different.sum(), np.abs(theirs - ours).mean()))
          """, [fixture.folder.file("source"), fixture.folder.file("accepted.png")])
      #expect(printed == "True", "\(eighths)")
    }
  }

  @Test("what is decoded without accepted damage is the same with it", arguments: kinds)
  func intact(_ kind: (name: String, script: String)) throws {
    let fixture = try PassFixture()
    let whole = try whole(kind.script, fixture)
    var counts = (both: 0, accepted: 0)
    for step in 0..<120 {
      var bytes = whole
      if step > 0 { bytes[step * (whole.count - 1) / 119] ^= 1 << UInt8(step % 8) }
      let source = try fixture.write(bytes)
      let (plain, other) = (fixture.folder.file("plain.png"), fixture.folder.file("accepted.png"))
      let failure = try code { try fixture.pass(source, to: plain, options: OutputOptions(format: .png)) }
      var damage: PictureDamage?
      let accepted = try code { damage = try fixture.pass(source, to: other, options: Self.accepting).damage }
      if failure == nil {
        #expect(accepted == nil && damage?.isAccepted != true, "\(step)")
        #expect(try PassFixture.bytes(plain) == PassFixture.bytes(other), "\(step)")
        counts.both += 1
      } else if accepted == nil {
        #expect(damage?.isAccepted == true, "\(step)")
        #expect(damage?.text.hasPrefix("after 203 of 203") != true, "\(step)")
        counts.accepted += 1
      }
    }
    #expect(counts.both >= 1)
    // Bits of a BMP that is not coded are no damage that could be noticed.
    #expect(counts.accepted > 20 || kind.name.hasPrefix("bmp") || kind.name.hasPrefix("gif"), "\(counts)")
  }

  /// What one pass over bytes whose damage is accepted finds: damage or an error.
  private func outcome(
    _ bytes: some Sequence<UInt8>, _ fixture: PassFixture
  ) throws -> (damage: PictureDamage?, code: ImagingError.Code?) {
    var damage: PictureDamage?
    let code = try code { damage = try accepted(bytes, fixture) }
    return (damage, code)
  }

  private func code(_ run: () throws -> Void) throws -> ImagingError.Code? {
    do {
      try run()
      return nil
    } catch let error as ImagingError {
      #expect(error.code != .io && error.code != .cancelled && error.code != .decoderCrashed, "\(error)")
      return error.code
    }
  }

  @Test("a picture without a complete row stays an error", arguments: kinds)
  func withoutRow(_ kind: (name: String, script: String)) throws {
    let fixture = try PassFixture()
    let whole = try whole(kind.script, fixture)
    let pixels: Int
    switch kind.name.prefix(3) {
    case "jpe": pixels = try #require(whole.firstRange(of: [0xFF, 0xDA])).upperBound + 30
    case "png": pixels = try #require(whole.firstRange(of: Array("IDAT".utf8))).upperBound + 20
    case "gif": pixels = try #require(whole.lastIndex(of: 0x2C)).advanced(by: 0) > 0 ? 13 + 180 + 30 : 0
    default: pixels = whole[10..<14].reversed().reduce(0) { $0 << 8 | Int($1) } + 9
    }
    for count in [3, 10, 40, pixels] {
      let source = try fixture.write(whole.prefix(count))
      let code = try code { try fixture.pass(source, to: fixture.folder.file("out"), options: Self.accepting) }
      #expect(code == .imageTruncated || code == .notAnImage, "\(count)")
    }
  }

  @Test(
    "JPEG of cut off JPEG has the intact rows of JPEG of the whole one", arguments: ["sepia(1)", "resize(fit 75 102)"])
  func planes(_ recipe: String) throws {
    let fixture = try PassFixture()
    let whole = try whole(Self.kinds[0].script, fixture)
    let options = OutputOptions(format: .jpeg, quality: 90, damaged: .accept)
    #expect(try accepted(whole, fixture, as: "all.jpg", recipe: recipe, options: options) == nil)
    let damage = try accepted(
      whole.prefix(whole.count / 2), fixture, as: "accepted.jpg", recipe: recipe, options: options)
    let printed = try PassFixture.python(
      Self.prelude + """
        all, ours = samples(sys.argv[1]), samples(sys.argv[2])
        read = int(sys.argv[3]) * len(all) // 203 // 16 * 16 - 16
        same = (all == ours).all(axis=(1, 2))
        print(read >= 16 and bool(same[:read].all()) and not same.all() or (read, len(all), same.argmin()))
        """,
      [fixture.folder.file("all.jpg"), fixture.folder.file("accepted.jpg"), "\(try rows(damage))"])
    #expect(printed == "True")
  }

  @Test(
    "a JPEG that lacks its end alone is whole, unless scans may be missing or its decoder does not notice missing bits",
    arguments: ["jpeg", "jpeg grey", "jpeg 4:4:4 with restarts", "jpeg progressive", "jpeg arithmetic"], [203, 8])
  func withoutEnd(_ name: String, height: Int) throws {
    let fixture = try PassFixture()
    let script =
      name == "jpeg arithmetic"
      ? """
      rgb.save(path + '.jpg', 'JPEG')
      subprocess.run(['jpegtran', '-arithmetic', '-outfile', path, path + '.jpg'], check=True)
      """ : try #require(Self.kinds.first { $0.name == name }).script
    // 8 rows are a single one of blocks.
    let whole = try whole("rgb = rgb.crop((0, 0, 149, \(height)))\n" + script, fixture)
    #expect(try accepted(whole, fixture, as: "all.png") == nil)
    let isTold = !["jpeg progressive", "jpeg arithmetic"].contains(name)
    for missing in 1...2 {
      let bytes = whole.dropLast(missing)
      #expect(try fixture.code(of: bytes) == .imageTruncated)
      let (damage, code) = try outcome(bytes, fixture)
      if name == "jpeg arithmetic", height == 8 {
        #expect(code == .imageTruncated)
        continue
      }
      #expect(damage?.kind == (isTold ? .harmless : .pixels) && damage?.isAccepted == true, "\(damage as Any)")
      #expect(
        try PassFixture.bytes(fixture.folder.file("accepted.png")) == PassFixture.bytes(fixture.folder.file("all.png")))
    }
    for missing in 4...6 {
      let (damage, code) = try outcome(whole.dropLast(missing), fixture)
      // Without one bit the only row is not complete, and later scans refine it.
      let isRead = height > 8 || name == "jpeg progressive"
      #expect(code == (isRead ? nil : .imageTruncated) && damage?.kind == (isRead ? .pixels : nil), "\(missing)")
    }
  }

  @Test("the end of a JPEG of one row of blocks is an error when its decoder looks there for a restart marker")
  func withoutRestart() throws {
    let fixture = try PassFixture()
    let script = "rgb.crop((0, 0, 149, 8)).save(path, 'JPEG', quality=90, subsampling=0, restart_marker_blocks=4)"
    let whole = try whole(script, fixture)
    // The first interval is cut off, and a marker of an earlier one follows it, then nothing but coded data.
    let first = try #require(whole.firstRange(of: [0xFF, 0xD0])).lowerBound
    let bytes = whole[..<(first - 8)] + [0xFF, 0xD6] + [UInt8](repeating: 0, count: 50)
    #expect(try outcome(bytes, fixture).code == .imageTruncated)
    // With that marker in the right place it is damage like any other.
    let (damage, code) = try outcome(whole[..<(first - 8)] + whole[first...], fixture)
    #expect(code == nil && damage?.kind == .pixels)
  }

  @Test("a progressive JPEG that ends within the header of a later scan is read up to there")
  func betweenScans() throws {
    let fixture = try PassFixture()
    let whole = try whole("rgb.save(path, 'JPEG', quality=90, progressive=True)", fixture)
    let scans = whole.indices.dropLast().filter { whole[$0] == 0xFF && whole[$0 + 1] == 0xDA }
    #expect(scans.count == 10)
    for (index, scan) in scans.enumerated() {
      for place in (scan + 1)...(scan + 8) {
        let (damage, code) = try outcome(whole.prefix(place), fixture)
        #expect(code == (index == 0 ? .imageTruncated : nil), "\(place)")
        #expect(damage?.kind == (index == 0 ? nil : .pixels))
        // The decoder may still be in the scan before, whose last bits it reads ahead.
        let scans = ["in scan \(index): ", "in scan \(index + 1): "]
        #expect(index == 0 || scans.contains { damage?.text.hasPrefix($0) == true }, "\(place)")
      }
    }
  }

  @Test(
    "a PNG with a wrong checksum of pixels is read, and not one of the size or the palette",
    arguments: [("IDAT", true), ("IHDR", false), ("PLTE", false)])
  func checksum(_ chunk: String, _ isRead: Bool) throws {
    let fixture = try PassFixture()
    var bytes = try whole("rgb.quantize(60).save(path, 'PNG')", fixture)
    let name = try #require(bytes.firstRange(of: Array(chunk.utf8)))
    let count = bytes[(name.lowerBound - 4)..<name.lowerBound].reduce(0) { $0 << 8 | Int($1) }
    bytes[name.upperBound + count] ^= 1
    #expect(try fixture.code(of: bytes) == .imageCorrupt)
    let (damage, code) = try outcome(bytes, fixture)
    #expect(code == (isRead ? nil : .imageCorrupt))
    #expect(damage == (isRead ? PictureDamage(.pixels, "somewhere: \(chunk): CRC error") : nil))
  }

  @Test("damage behind the pixels of a PNG is none of them", arguments: [false, true])
  func behindPixels(_ isInterlaced: Bool) throws {
    let fixture = try PassFixture()
    let kind = try #require(Self.kinds.first { $0.name == (isInterlaced ? "png interlaced" : "png") })
    // ImageMagick writes texts behind the pixels.
    let names = [PNGChunk.header, PNGChunk.data, PNGChunk.end]
    let pieces = CorpusPictures.pieces(try whole(kind.script, fixture))
    let whole = pieces[0] + pieces.dropFirst().filter { names.contains(Array($0[4..<8])) }.flatMap(\.self)
    _ = try accepted(whole, fixture, as: "all.png")
    let end = whole.count - 12
    // Nothing depends on the checksum of the last chunk, which is empty.
    let damage = PictureDamage(.harmless, "IEND: CRC error")
    var wrong = whole
    wrong[whole.count - 1] ^= 1
    #expect(try fixture.pass(fixture.write(wrong), to: fixture.folder.file("out")).damage == damage)
    let (pixels, last) = (Array(whole[..<end]), Array(whole[end...]))
    let chunk: [UInt8] = [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0]
    let cases: [(bytes: [UInt8], text: String)] = [
      (pixels, "the file ends too early"), (whole.dropLast(3), "the file ends too early"),
      (pixels + chunk + last, "[01][02][03][04]: invalid chunk type"),
      // The checksum of all pixels, or of the chunk, is missing.
      (pixels.dropLast(4), "the file ends too early"), (pixels.dropLast(7), "the file ends too early"),
    ]
    for (bytes, text) in cases {
      #expect(try fixture.code(of: bytes) != nil, "\(text)")
      let damage = try accepted(bytes, fixture)
      #expect(
        damage?.kind == .harmless && damage?.text.hasPrefix("after all rows: ") == true, "\(text) \(damage as Any)")
      #expect(damage?.text.hasSuffix(text) == true, "\(text) \(damage as Any)")
      #expect(
        try PassFixture.bytes(fixture.folder.file("accepted.png")) == PassFixture.bytes(fixture.folder.file("all.png")))
    }
    // The checksum of all pixels is wrong, with a right one of the chunk.
    var bytes = whole
    bytes[end - 5] ^= 1
    let found = try accepted(CorpusPictures.withRightChecksums(bytes), fixture)
    #expect(found?.kind == .pixels, "\(found as Any)")
  }

  @Test("a WebP with a broken bit stream is read up to there, and one that is cut off is an error")
  func webp() throws {
    let fixture = try PassFixture()
    var whole = try whole("rgb.save(path, 'WEBP', quality=80)", fixture)
    let cut = try fixture.write(whole.prefix(whole.count * 3 / 4))
    #expect(
      try code { try fixture.pass(cut, to: fixture.folder.file("out"), options: Self.accepting) } == .imageTruncated)
    _ = try accepted(whole, fixture, as: "all.png")
    // The head says that all is there, and the bit stream ends.
    whole = Array(whole.prefix(whole.count * 3 / 4 / 2 * 2))
    whole.replaceSubrange(4..<8, with: [UInt8](littleEndian: whole.count - 8, count: 4))
    whole.replaceSubrange(16..<20, with: [UInt8](littleEndian: whole.count - 20, count: 4))
    #expect(try fixture.code(of: whole) == .imageCorrupt)
    let rows = try rows(try accepted(whole, fixture))
    #expect(rows > 50 && rows < 203)
    let printed = try PassFixture.python(
      Self.prelude + """
        all, ours, rows = samples(sys.argv[1]), samples(sys.argv[2]), int(sys.argv[3])
        print(np.array_equal(all[:rows], ours[:rows]), bool((ours[rows:] == (0, 0, 0, 255)).all()))
        """, [fixture.folder.file("all.png"), fixture.folder.file("accepted.png"), "\(rows)"])
    #expect(printed == "True True")
  }

  @Test("of a lossless WebP all rows are read that are known near the damage")
  func losslessWebP() throws {
    let fixture = try PassFixture()
    var whole = try whole(
      "Image.fromarray(np.random.default_rng(1).integers(0, 256, (300, 200, 3)).astype('u1')).save(path, 'WEBP', lossless=True)",
      fixture)
    _ = try accepted(whole, fixture, as: "all.png")
    // The head says that all is there, and the bit stream ends within the only piece that libwebp gets.
    whole = Array(whole.prefix(whole.count / 3 / 2 * 2))
    whole.replaceSubrange(4..<8, with: [UInt8](littleEndian: whole.count - 8, count: 4))
    whole.replaceSubrange(16..<20, with: [UInt8](littleEndian: whole.count - 20, count: 4))
    let rows = try rows(try accepted(whole, fixture), of: 300)
    #expect(rows >= 100 - 32, "\(rows)")
    let printed = try PassFixture.python(
      Self.prelude + """
        all, ours, rows = samples(sys.argv[1]), samples(sys.argv[2]), int(sys.argv[3])
        print(np.array_equal(all[:rows], ours[:rows]), bool((ours[rows:] == (0, 0, 0, 255)).all()))
        """, [fixture.folder.file("all.png"), fixture.folder.file("accepted.png"), "\(rows)"])
    #expect(printed == "True True")
  }
}
