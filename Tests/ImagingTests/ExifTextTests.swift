import Testing

@testable import Imaging

/// Of EXIF no more is copied than there is of it, whatever its fields point at: copies are made in the program itself.
@Suite struct ExifTextTests {
  private let file: ScratchFile

  init() throws { file = try ScratchFile() }

  /// A stream with texts that all point at the same bytes.
  /// - Parameter length: Bytes of each text.
  private func exif(_ tags: [Int], length: Int, size: Int) -> [UInt8] {
    var bytes = Array("II*\0".utf8) + [UInt8](littleEndian: 8, count: 4) + [UInt8](littleEndian: tags.count, count: 2)
    let content = bytes.count + 12 * tags.count + 4
    for tag in tags {
      bytes += [UInt8](littleEndian: tag, count: 2) + [UInt8](littleEndian: 2, count: 2)
      bytes += [UInt8](littleEndian: length, count: 4) + [UInt8](littleEndian: content, count: 4)
    }
    bytes += [0, 0, 0, 0]
    return bytes + [UInt8](repeating: 0x41, count: size - bytes.count)
  }

  /// A picture with EXIF.
  private func picture(_ format: ImageFormat, _ exif: [UInt8]) throws -> [UInt8] {
    switch format {
    case .jpeg:
      let jpeg = try CorpusPictures.bytes("jpeg-420").dropLast()
      let content = Exif.identifier + exif
      return jpeg[..<2] + [0xFF, 0xE1] + [UInt8](bigEndian: content.count + 2, count: 2) + content + jpeg[2...]
    case .png:
      let png = try CorpusPictures.bytes("png-8").dropLast()
      return png[..<33] + PNGChunk.encoded(PNGChunk.exif, exif) + png[33...]
    default:
      let webp = try CorpusPictures.bytes("webp-alpha").dropLast() + WebPChunk.encoded("EXIF", exif)
      return webp[..<4] + [UInt8](littleEndian: webp.count - 8, count: 4) + webp[8...]
    }
  }

  private static let (artist, copyright) = (0x013B, 0x8298)

  @Test(
    "of texts in EXIF that share their bytes one of each kind is copied",
    arguments: [ImageFormat.jpeg, .png, .webp])
  func shared(_ format: ImageFormat) throws {
    let tags = Array(repeatElement(Self.artist, count: 500)) + Array(repeatElement(Self.copyright, count: 500))
    let bytes = try picture(format, exif(tags, length: 20_000, size: 60_000))
    try file.write(bytes)
    let (copy, copied) = try file.copied(.copyright)
    #expect(!copy.hasUnreadableMetadata)
    let texts = copied.split { $0 != 0x41 }.filter { $0.count >= 20_000 }
    #expect(texts.reduce(0) { $0 + $1.count } == 40_000 && copied.count < bytes.count)
  }

  @Test(
    "EXIF whose texts are longer than itself cannot be read",
    arguments: [ImageFormat.jpeg, .png, .webp], [MetadataPolicy.none, .copyright])
  func longer(_ format: ImageFormat, _ policy: MetadataPolicy) throws {
    let bytes = try picture(format, exif([Self.artist, Self.copyright], length: 30_001, size: 60_000))
    try file.write(bytes)
    let (copy, copied) = try file.copied(policy)
    #expect(copy.hasUnreadableMetadata && copied.count < bytes.count - 60_000)
    try file.write(try picture(format, exif([Self.artist, Self.copyright], length: 30_000, size: 60_000)))
    #expect(try !file.copied(policy).copy.hasUnreadableMetadata)
    try file.write(bytes)
    #expect(try file.copied(.all).bytes == bytes)
  }
}
