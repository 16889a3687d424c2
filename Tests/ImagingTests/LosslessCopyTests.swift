import Foundation
import TestSupport
import Testing

@testable import Imaging

/// What is copied loses metadata and what follows the picture, and not a bit of the picture.
@Suite struct LosslessCopyTests {
  private let fixture: PassFixture
  private let file: ScratchFile

  init() throws { (fixture, file) = (try PassFixture(), try ScratchFile()) }

  /// What must not be found in a copy, and what must, depending on the policy.
  private static let secrets = ["MAKER", "THUMB", "PACKET", "TITLE", "REMARK", "HIDDEN", "TRAILER"]
  private static let rights = ["SOMEBODY", "NOTICE"]

  /// Makes pictures with all kinds of metadata: in EXIF a maker, a copyright, an orientation, a position and a thumbnail.
  private static let make = #"""
    def tiff(orientation=6):
        def field(tag, kind, count, value): return struct.pack('<HHI', tag, kind, count) + value
        maker, rights = b'MAKER\0', b'SOMEBODY\0'
        names = [(0x10F, 2, maker), (0x112, 3, orientation), (0x8298, 2, rights), (0x8825, 4, None)]
        first = 8 + 2 + 12 * len(names) + 4
        data, place, fields = b'', first, b''
        gps = struct.pack('<H', 1) + field(1, 2, 2, b'N\0\0\0') + bytes(4)
        for tag, kind, value in names:
            if kind == 3:
                fields += field(tag, 3, 1, struct.pack('<HH', value, 0))
            else:
                value = gps if value is None else value
                count = 1 if kind == 4 else len(value)
                fields += field(tag, kind, count, struct.pack('<I', first + len(data)))
                data += value + b'\0' * (len(value) % 2)
        second = first + len(data)
        thumb = struct.pack('<H', 2) + field(0x201, 4, 1, struct.pack('<I', second + 30)) \
            + field(0x202, 4, 1, struct.pack('<I', 5)) + bytes(4) + b'THUMB'
        return b'II*\0' + struct.pack('<IH', 8, len(names)) + fields + struct.pack('<I', second) + data + thumb

    profile = bytes(16) + b'RGB ' + bytes(16) + b'acsp' + bytes(160)
    packet = b'<x:xmpmeta>PACKET</x:xmpmeta>'
    sets = b''.join(b'\x1c' + bytes([2, n]) + struct.pack('>H', len(t)) + t for n, t in
                    [(5, b'TITLE'), (116, b'NOTICE')])
    photoshop = b'Photoshop 3.0\0' + b'8BIM\x03\xed\0\0\0\0\0\6HIDDEN' \
        + b'8BIM\x04\x04\0\0' + struct.pack('>I', len(sets)) + sets
    def segment(marker, content): return bytes([0xff, marker]) + struct.pack('>H', len(content) + 2) + content
    def jpeg(image, orientation=6, **options):
        out = io.BytesIO(); image.save(out, 'JPEG', icc_profile=profile, **options)
        plain = out.getvalue()
        scans = plain.rindex(b'\xff\xda')
        return (plain[:2] + segment(0xe1, b'Exif\0\0' + tiff(orientation))
                + segment(0xe0, b'JFIF\0\1\2\1\0\x48\0\x48\2\1THUMB!') + segment(0xe0, b'JFXX\0\x13HIDDEN')
                + segment(0xe1, b'http://ns.adobe.com/xap/1.0/\0' + packet) + segment(0xed, photoshop)
                + segment(0xe2, b'MPF\0HIDDEN') + segment(0xec, b'Ducky HIDDEN') + segment(0xfe, b'REMARK')
                + plain[2:scans] + (segment(0xfe, b'REMARK') if scans > plain.index(b'\xff\xda') else b'')
                + plain[scans:] + b'TRAILER' + plain)
    def png_file(image, orientation=6):
        out = io.BytesIO(); image.save(out, 'PNG')
        plain = out.getvalue()
        before = chunk(b'gAMA', struct.pack('>I', 45455)) + chunk(b'pHYs', struct.pack('>IIB', 2835, 2835, 1)) \
            + chunk(b'bKGD', bytes(6)) + chunk(b'tEXt', b'Comment\0REMARK') + chunk(b'tEXt', b'Copyright\0NOTICE') \
            + chunk(b'iTXt', b'Author\0\0\0\0\0SOMEBODY') + chunk(b'vpAg', b'HIDDEN') \
            + chunk(b'zTXt', b'Raw profile type exif\0\0' + zlib.compress(b'HIDDEN'))
        after = chunk(b'eXIf', tiff(orientation)) + chunk(b'iTXt', b'XML:com.adobe.xmp\0\0\0\0\0' + packet) \
            + chunk(b'tIME', bytes([7, 230, 1, 1, 0, 0, 0]))
        return plain[:33] + before + plain[33:-12] + after + plain[-12:] + b'TRAILER'
    def webp(image, orientation=6, **options):
        out = io.BytesIO(); image.save(out, 'WEBP', icc_profile=profile, exif=tiff(orientation), xmp=packet, **options)
        plain = out.getvalue()
        extra = b'HIDD' + struct.pack('<I', 6) + b'HIDDEN'
        return plain[:4] + struct.pack('<I', len(plain) - 8 + len(extra)) + plain[8:] + extra + b'TRAILER'
    image = Image.open(sys.argv[1]).convert('RGB')
    if kind == 'cmyk': whole = jpeg(image.convert('CMYK'))
    elif kind == 'progressive': whole = jpeg(image, progressive=True)
    elif kind == 'baseline': whole = jpeg(image)
    elif kind == 'upright': whole = jpeg(image, 1)
    elif kind == 'png': whole = png_file(image)
    elif kind == 'lossless': whole = webp(image, lossless=True)
    elif kind == 'animation':
        whole = webp(image, save_all=True, append_images=[image.rotate(90)])
    else: whole = webp(image)
    open(sys.argv[2], 'wb').write(whole)
    """#

  private static let kinds = ["baseline", "progressive", "cmyk", "upright", "png", "lossy", "lossless", "animation"]

  /// Writes a picture with all kinds of metadata and returns its bytes.
  private func picture(_ kind: String) throws -> [UInt8] {
    let path = fixture.folder.file("in")
    _ = try PassFixture.python("kind = '\(kind)'\n" + Self.make, [PassFixture.sample("chelsea-small.png"), path])
    return try PassFixture.bytes(path)
  }

  /// Runs a program on a file with these bytes.
  private func run(_ program: String, _ arguments: [String], _ bytes: [UInt8]) throws -> (status: Int32, output: Data) {
    let output = Pipe()
    let process = try SpawnedProcess(
      "/usr/bin/" + program, arguments + [try fixture.write(bytes, as: "checked")], output: .pipe(output),
      errors: .null)
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    return (process.wait(), data)
  }

  private func has(_ text: String, _ bytes: [UInt8]) -> Bool { Data(bytes).range(of: Data(text.utf8)) != nil }

  /// The pixels as the program sees them, turned and converted.
  private func pixels(_ bytes: [UInt8]) throws -> [UInt8] {
    let out = fixture.folder.file("pixels")
    try fixture.pass(try fixture.write(bytes), to: out, options: OutputOptions(format: .png, metadata: .none))
    return try PassFixture.bytes(out)
  }

  @Test(
    "metadata is kept according to the policy, and the pixels as they are", arguments: kinds, MetadataPolicy.allCases)
  func policy(_ kind: String, _ policy: MetadataPolicy) throws {
    let bytes = try picture(kind)
    try file.write(bytes)
    let (copy, copied) = try file.copied(policy)
    #expect(!copy.isWholeFile && !copy.hasUnreadableMetadata)
    #expect(!has("TRAILER", copied))
    for secret in Self.secrets where secret != "TRAILER" && has(secret, bytes) {
      #expect(has(secret, copied) == (policy == .all), "\(secret)")
    }
    for right in Self.rights where has(right, bytes) { #expect(has(right, copied) == (policy != .none), "\(right)") }
    #expect(has("acsp", copied) == has("acsp", bytes))
    #expect(try pixels(copied) == pixels(bytes))
    try file.write(copied)
    let metadata = try ImageFormat.open(file.descriptor, limits: .confined).metadata
    #expect(metadata.orientation == (kind == "upright" ? .upright : .rotate90))
    let again = try file.copied(policy)
    #expect(again.copy.isWholeFile && again.bytes == copied)
    switch copy.info.format {
    case .jpeg:
      for program in [["jpegtran", "-copy", "none"], ["djpeg"]] {
        let (before, after) = (
          try run(program[0], Array(program.dropFirst()), bytes),
          try run(program[0], Array(program.dropFirst()), copied)
        )
        #expect(before.status == 0 && after.status == 0 && before.output == after.output && !after.output.isEmpty)
      }
    case .png:
      #expect(try run("pngcheck", ["-q"], copied).status == 0)
    default:
      let (status, output) = try run("webpmux", ["-info"], copied)
      #expect(status == 0)
      let said = String(decoding: output, as: UTF8.self)
      #expect(said.contains("ICC") && said.contains("EXIF") && said.contains("XMP") == (policy == .all), "\(said)")
      #expect(!said.contains("unknown") || policy == .all, "\(said)")
    }
  }

  @Test("without anything to keep, EXIF is left out")
  func nothing() throws {
    try file.write(try picture("upright"))
    #expect(!has("Exif", try file.copied(.none).bytes))
    #expect(has("SOMEBODY", try file.copied(.copyright).bytes))
  }

  /// Pictures of the corpus that are complete, and alone in their files.
  private static let complete = CorpusPictures.names.filter {
    !["jpeg-cmyk-reduced", "jpeg-several", "jpeg-stray-markers"].contains($0)
  }

  @Test("what has nothing to lose is copied byte for byte", arguments: complete, MetadataPolicy.allCases)
  func whole(_ name: String, _ policy: MetadataPolicy) throws {
    // The last byte chooses a recipe.
    let bytes = Array(try CorpusPictures.bytes(name).dropLast())
    try file.write(bytes)
    let (copy, copied) = try file.copied(policy)
    #expect(copy.isWholeFile == (copied == bytes))
    try file.write(bytes + [7])
    #expect(try !file.copied(policy).copy.isWholeFile && file.copied(policy).bytes == copied)
    let marks = ["Exif", "eXIf", "EXIF", "XMP DataXMP", "x:xmpmeta", "Raw profile"]
    let hasMetadata = marks.contains { has($0, bytes) }
    // Pillow appends whole files as pages, whose headers nothing refers to.
    #expect(copy.isWholeFile || (hasMetadata || name == "tiff-pages") && policy != .all, "\(name)")
    try file.write(copied)
    #expect(try file.copied(policy).copy.isWholeFile)
    #expect(try pixels(copied) == pixels(bytes))
  }

  @Test("metadata that cannot be read is left out, unless everything is kept", arguments: ["baseline", "png", "lossy"])
  func unreadable(_ kind: String) throws {
    var bytes = try picture(kind)
    let place = try #require(Data(bytes).range(of: Data([0x49, 0x49, 0x2A, 0, 8, 0, 0, 0])))
    bytes[place.lowerBound + 4] = 0xFF
    bytes[place.lowerBound + 7] = 0x7F
    try file.write(CorpusPictures.withRightChecksums(bytes))
    for policy in [MetadataPolicy.none, .copyright] {
      let (copy, copied) = try file.copied(policy)
      #expect(copy.hasUnreadableMetadata && !has("MAKER", copied))
    }
    let (copy, copied) = try file.copied(.all)
    #expect(!copy.hasUnreadableMetadata && has("MAKER", copied))
  }

  @Test(
    "a picture whose end is missing is copied to its end, without metadata",
    arguments: ["baseline", "progressive", "png"], [1, 5, 9, 200, 3000])
  func unfinished(_ kind: String, _ missing: Int) throws {
    let bytes = try picture(kind)
    // The trailer is a second picture, and a word.
    let end = try #require(Data(bytes).range(of: Data("TRAILER".utf8))).lowerBound
    let size = kind == "png" ? end - 12 - missing : end - 2 - missing
    try file.write(Array(bytes.prefix(size)))
    let (_, copied) = try file.copied(.none)
    for secret in Self.secrets { #expect(!has(secret, copied), "\(secret)") }
    if kind != "png" { #expect(copied.suffix(1000) == bytes[..<size].suffix(1000)) }
  }

  @Test("damage on which no coded pixel depends does not prevent a copy", arguments: MetadataPolicy.allCases)
  func harmless(_ policy: MetadataPolicy) throws {
    let jpeg = Array(try CorpusPictures.bytes("jpeg-420").dropLast())
    // Bytes before segments, and before the scan's header.
    let pieces = CorpusPictures.pieces(jpeg)
    for place in [2, 3, pieces.count - 1] {
      let stray = Array("HIDDEN".utf8) + [0xFF, 0, 1]
      try file.write(Array((pieces[..<place] + [stray] + pieces[place...]).joined()))
      let (copy, copied) = try file.copied(policy)
      #expect(copy.damage?.kind == .harmless)
      #expect(copy.damage?.text.contains("9 extraneous bytes before marker") == true)
      #expect(has("HIDDEN", copied) == (policy == .all))
      if policy != .all { #expect(try pixels(copied) == pixels(jpeg)) }
    }
    let png = try CorpusPictures.bytes("png-8").dropLast()
    let kinds: [(String, PictureDamage.Kind?)] = [
      ("tEXt", .harmless), ("gAMA", .visible), ("tRNS", nil), ("abCd", .visible),
    ]
    for (name, kind) in kinds {
      var chunk = PNGChunk.encoded(Array(name.utf8), [0, 0, 0, 9, 0, 0])
      chunk[chunk.count - 1] ^= 1
      try file.write(png[..<33] + chunk + png[33...])
      let copy = try? file.copied(policy).copy
      #expect(copy?.damage == kind.map { PictureDamage($0, "\(name): CRC error") })
    }
  }

  @Test(
    "metadata between scans is cut out of a damaged picture, but where a marker in coded data would become another",
    arguments: MetadataPolicy.allCases)
  func stray(_ policy: MetadataPolicy) throws {
    let jpeg = Array(try CorpusPictures.bytes("jpeg-progressive").dropLast())
    let (picture, end) = (Array(jpeg.dropLast(2)), Array(jpeg.suffix(2)))
    // A segment ends where a marker follows.
    let (inside, behind) = (remark("INSIDE") + [0xFF, 0xD0], remark("BEHIND"))
    /// The marker and the length of a table with so many bytes.
    func table(_ count: Int) -> [UInt8] { [0xFF, 0xDB] + [UInt8](bigEndian: count + 2, count: 2) }
    let filler = [UInt8](repeating: 1, count: 28)
    let damages: [(bytes: [UInt8], keepsInside: Bool)] = [
      // Without the comment a marker would follow the table.
      (table(30) + inside + filler + [0xFF, 0xD0] + filler, true),
      // The table ends after the comment's first byte, or before the byte that precedes the comment.
      (table(4) + [1, 1, 1] + inside, true), (table(3) + [1, 1, 1, 1] + inside, false),
      // It has no length that is possible, or there is no table.
      (table(-1) + inside, false), (inside, false), ([1, 2, 0xFF, 0] + inside + [3], false),
    ]
    for (damage, keepsInside) in damages {
      try file.write([picture, damage, behind, end, Array("TRAILER".utf8)].flatMap { $0 })
      let (copy, copied) = try file.copied(policy)
      #expect(has("INSIDE", copied) == (policy == .all || keepsInside), "\(damage)")
      #expect(has("BEHIND", copied) == (policy == .all) && !has("TRAILER", copied), "\(damage)")
      try file.write(copied)
      let again = try file.copied(policy)
      #expect(again.copy.isWholeFile && again.bytes == copied && again.copy.info == copy.copiedInfo, "\(damage)")
    }
  }

  @Test("of a file whose size is known nothing that was appended since is in the copy", arguments: [1, 5000, 100_000])
  func appended(count: Int) throws {
    let bytes = try PassFixture.bytes(PassFixture.sample("coffee.jpg"))
    try file.write(bytes + [UInt8](repeating: 0xD8, count: count))
    let copy = try LosslessCopy(of: file.descriptor, size: Int64(bytes.count), keeping: .all)
    #expect(copy.isWholeFile && copy.parts == [.range(0..<Int64(bytes.count))])
  }

  @Test("a copy of a copy is the same", arguments: CorpusPictures.names, MetadataPolicy.allCases)
  func again(_ name: String, _ policy: MetadataPolicy) throws {
    try file.write(try CorpusPictures.bytes(name))
    let (copy, copied) = try file.copied(policy)
    try file.write(copied)
    let again = try file.copied(policy)
    #expect(again.copy.isWholeFile && again.bytes == copied && again.copy.info == copy.copiedInfo)
  }

  /// How many changed pictures are tried of each kind.
  private static let changes = ProcessInfo.processInfo.environment["DARKROOM_TEST_CHANGES"].flatMap { Int($0) } ?? 100

  @Test(
    "of a damaged picture a copy is made that has nothing to lose, or its header is refused",
    arguments: kinds + CorpusPictures.names)
  func changed(_ kind: String) throws {
    let bytes = Self.kinds.contains(kind) ? try picture(kind) : try CorpusPictures.bytes(kind)
    var generator = SplitMix64(seed: 16)
    for number in 0..<Self.changes {
      let changed = CorpusPictures.changed(bytes, by: &generator)
      try file.write(changed)
      let policy = MetadataPolicy.allCases[number % 3]
      do {
        let (copy, copied) = try file.copied(policy)
        let verdict = try code(ImageFormat.open(file.descriptor, limits: .confined))
        #expect(verdict == copy.decodingError?.code, "change \(number)")
        try file.write(copied)
        let again = try file.copied(policy)
        #expect(
          again.copy.info == copy.copiedInfo && again.copy.isWholeFile && again.bytes == copied, "change \(number)")
        if policy == .none { for secret in Self.secrets.prefix(2) { #expect(!has(secret, copied), "\(number)") } }
      } catch let error as ImagingError {
        #expect(error.code != .io)
        #expect(try code(ImageFormat.open(file.descriptor, limits: .confined)) == error.code)
      }
    }
  }

  /// A comment in a JPEG.
  private func remark(_ text: String) -> [UInt8] {
    [0xFF, 0xFE] + [UInt8](bigEndian: text.utf8.count + 2, count: 2) + Array(text.utf8)
  }

  private func code(_ open: @autoclosure () throws -> Any) throws -> ImagingError.Code? {
    do {
      _ = try open()
      return nil
    } catch let error as ImagingError {
      return error.code
    }
  }
}
