import Foundation
import TestSupport
import Testing

@testable import Imaging

@Suite struct PNGRawProfileTests {
  private let fixture: PassFixture
  private let file: ScratchFile

  init() throws {
    fixture = try PassFixture()
    file = try ScratchFile()
  }

  /// Writes a PNG with EXIF in a text of ImageMagick, with two colours side by side, and returns its bytes.
  /// - Parameter isCompressed: Whether the text is compressed.
  private func picture(orientation: Int = 6, isCompressed: Bool) throws -> [UInt8] {
    let paths = ["plain.png", "exif.app1", "in.png"].map(fixture.folder.file)
    _ = try PassFixture.python(
      """
      p = Image.new('RGB', (24, 16), 'red'); p.paste('blue', (12, 0, 24, 16)); p.save(sys.argv[1])
      exif = Image.Exif(); exif[0x112] = \(orientation); exif[0x8298] = 'NOTICE'; exif[0x10e] = 'SECRET'
      open(sys.argv[2], 'wb').write(b'Exif\\0\\0' + exif.tobytes().removeprefix(b'Exif\\0\\0'))
      """, paths)
    let process = try SpawnedProcess(
      "/usr/bin/convert-im6",
      [paths[0], "-profile", "app1:" + paths[1]] + (isCompressed ? [] : ["-compress", "none"]) + [paths[2]],
      output: .null, errors: .null)
    #expect(process.wait() == 0)
    return try PassFixture.bytes(paths[2])
  }

  private func has(_ text: String, _ bytes: [UInt8]) -> Bool { Data(bytes).range(of: Data(text.utf8)) != nil }

  @Test("EXIF of ImageMagick turns the picture and is kept as the policy says", arguments: [false, true])
  func read(_ isCompressed: Bool) throws {
    let source = try picture(isCompressed: isCompressed)
    #expect(has(isCompressed ? "zTXtRaw profile type app1" : "tEXtRaw profile type app1", source))
    for policy in MetadataPolicy.allCases {
      try fixture.pass(
        try fixture.write(source), to: fixture.folder.file("out"),
        options: OutputOptions(format: .png, metadata: policy))
      let printed = try PassFixture.python(
        """
        p = Image.open(sys.argv[1]).convert('RGB'); exif = Image.open(sys.argv[1]).getexif()
        print(p.size, p.getpixel((8, 3)), p.getpixel((8, 20)), exif.get(0x112, 1), exif.get(0x8298), exif.get(0x10e))
        """, [fixture.folder.file("out")])
      let kept = policy == .none ? "None None" : policy == .copyright ? "NOTICE None" : "NOTICE SECRET"
      #expect(printed == "(16, 24) (255, 0, 0) (0, 0, 255) 1 \(kept)")
    }
  }

  @Test("a copy keeps the orientation, and the rest as the policy says", arguments: [false, true])
  func copied(_ isCompressed: Bool) throws {
    let source = try picture(isCompressed: isCompressed)
    for policy in MetadataPolicy.allCases {
      try file.write(source)
      let (copy, bytes) = try file.copied(policy)
      #expect(!copy.hasUnreadableMetadata && copy.isWholeFile == (policy == .all))
      try file.write(bytes)
      #expect(try file.copied(policy).copy.isWholeFile)
      let metadata = try ImageFormat.open(file.descriptor, limits: .confined).metadata
      #expect(metadata.orientation == .rotate90)
      guard case .exif(let exif)? = metadata.items.last else {
        Issue.record("no EXIF")
        return
      }
      #expect(has("NOTICE", exif) == (policy != .none) && has("SECRET", exif) == (policy == .all))
      // What the text holds is checked above; other texts have a secret, too.
      if policy != .all { #expect(!has("SECRET", bytes) && !has("date:create", bytes)) }
    }
  }

  @Test("Pillow reads what a copy keeps")
  func pillow() throws {
    try file.write(try renamed(picture(isCompressed: true), to: "exif"))
    let path = try fixture.write(file.copied(.copyright).bytes)
    let printed = try PassFixture.python(
      "exif = Image.open(sys.argv[1]).getexif(); print(sorted(exif.items()))", [path])
    #expect(printed == "[(274, 6), (33432, 'NOTICE')]")
  }

  @Test("of several texts the first counts, and none with a wrong checksum")
  func first() throws {
    let (one, other) = (
      try picture(orientation: 6, isCompressed: true), try picture(orientation: 3, isCompressed: false)
    )
    let start = try #require(other.firstRange(of: Array("tEXtRaw".utf8))?.lowerBound) - 4
    let text = other[start..<(start + other[start..<(start + 4)].bigEndianInteger + 12)]
    for (place, isDamaged, orientation) in [
      (33, false, Orientation.rotate180), (one.count - 12, false, .rotate90), (33, true, .upright),
    ] {
      var source = one
      source.insert(contentsOf: isDamaged ? text.dropLast() + [text.last.map { $0 ^ 1 } ?? 0] : text, at: place)
      try file.write(source)
      #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == orientation)
      let (copy, bytes) = try file.copied(.none)
      #expect(copy.hasUnreadableMetadata == isDamaged)
      try file.write(bytes)
      #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == orientation)
      #expect(try file.copied(.none).copy.isWholeFile)
    }
  }

  @Test("a text that is another profile does not stand for EXIF", arguments: [false, true], [false, true])
  func otherProfile(_ isCompressed: Bool, _ isOtherCompressed: Bool) throws {
    var source = try picture(isCompressed: isCompressed)
    let packet = Array("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>SECRET</x:xmpmeta>".utf8)
    let text = "\napp1\n      \(packet.count)\n" + packet.map { String(format: "%02x", $0) }.joined() + "\n"
    let keyword = Array("Raw profile type APP1\0".utf8)
    let other =
      isOtherCompressed
      ? PNGChunk.encoded(
        PNGChunk.compressedText, keyword + [0] + (try #require(Deflate.compressed(Array(text.utf8)))))
      : PNGChunk.encoded(PNGChunk.plainText, keyword + text.utf8)
    source.insert(contentsOf: other, at: 33)
    try file.write(source)
    #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == .rotate90)
    let (copy, bytes) = try file.copied(.none)
    #expect(!copy.hasUnreadableMetadata && bytes.count < source.count - other.count)
    try file.write(bytes)
    #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == .rotate90)
    #expect(try file.copied(.none).copy.isWholeFile)
  }

  /// The picture whose text has another name.
  private func renamed(_ bytes: [UInt8], to name: String) throws -> [UInt8] {
    let old = Array("Raw profile type app1".utf8)
    let start = try #require(bytes.firstRange(of: old)?.lowerBound)
    var result = bytes
    result.replaceSubrange(start..<(start + old.count), with: "Raw profile type \(name)".utf8)
    return CorpusPictures.withRightChecksums(result)
  }

  @Test("eXIf takes precedence, before and after the text", arguments: [false, true])
  func precedence(_ isFirst: Bool) throws {
    var source = try picture(isCompressed: false)
    let exif = try #require(
      Exif([0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0]))
    #expect(exif.orientation == .rotate180)
    source.insert(contentsOf: PNGChunk.encoded(PNGChunk.exif, exif.bytes), at: isFirst ? 33 : source.count - 12)
    try file.write(source)
    #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == .rotate180)
    let (copy, bytes) = try file.copied(.copyright)
    #expect(!copy.hasUnreadableMetadata && !has("Raw profile", bytes) && has("eXIf", bytes))
    try file.write(bytes)
    #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == .rotate180)
  }

  /// EXIF that turns by 180°.
  private static let turned: [UInt8] = [
    0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0,
  ]

  @Test(arguments: [false, true], [false, true])
  func `an eXIf that the decoder does not use has no effect on a copy, and others have theirs`(
    isFirst: Bool, isTooLong: Bool
  ) throws {
    let source = try picture(isCompressed: false)
    let padding = [UInt8](repeating: 0, count: isTooLong ? ImageLimits.maxMetadataBytes : 0)
    var unused = PNGChunk.encoded(PNGChunk.exif, Self.turned + padding)
    if !isTooLong { unused[unused.count - 1] ^= 1 }
    let used = PNGChunk.encoded(PNGChunk.exif, Self.turned)
    for (chunks, orientation) in [(unused, Orientation.rotate90), (unused + used, .rotate180)] {
      var bytes = source
      bytes.insert(contentsOf: chunks, at: isFirst ? 33 : source.count - 12)
      try file.write(bytes)
      #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == orientation)
      for policy in [MetadataPolicy.none, .copyright] {
        try file.write(bytes)
        let (copy, copied) = try file.copied(policy)
        #expect(copy.hasUnreadableMetadata)
        try file.write(copied)
        #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == orientation)
        #expect(has("Raw profile", copied) == (orientation == .rotate90))
        let again = try file.copied(policy).copy
        #expect(again.isWholeFile && !again.hasUnreadableMetadata)
      }
    }
  }

  @Test(
    "a text that is invalid has no orientation, and is no part of a copy",
    arguments: [
      "", "\n", "\nexif\n", "\nexif\n      2\n", "\nexif\n      2\n4d4", "\nexif\n      1\n4d4d",
      "\nexif\n      2\n4d4g",
      "\nexif\n-1\n", "\nexif\n99999999999999999999\n4d", "\nexif\n       8\n4d4d002a00000008", "\nexif\n      2\n4d4d",
    ])
  func invalid(_ text: String) throws {
    var source = try picture(isCompressed: false)
    let start = try #require(source.firstRange(of: Array("tEXtRaw".utf8))?.lowerBound) - 4
    let length = source[start..<(start + 4)].bigEndianInteger + 12
    let content = Array("Raw profile type exif\0".utf8) + text.utf8
    source.replaceSubrange(start..<(start + length), with: PNGChunk.encoded(PNGChunk.plainText, content))
    try file.write(source)
    #expect(try ImageFormat.open(file.descriptor, limits: .confined).metadata.orientation == .upright)
    let (copy, bytes) = try file.copied(.copyright)
    #expect(copy.hasUnreadableMetadata && !has("Raw profile", bytes))
  }
}
