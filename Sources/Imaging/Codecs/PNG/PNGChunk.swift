import CPNG

/// The chunks with metadata of PNG files (W3C PNG, third edition, § 11.3).
enum PNGChunk {
  /// Names, of four letters.
  static let exif = Array("eXIf".utf8)
  static let icc = Array("iCCP".utf8)
  static let text = Array("iTXt".utf8)
  static let plainText = Array("tEXt".utf8)
  static let compressedText = Array("zTXt".utf8)
  static let density = Array("pHYs".utf8)
  static let end = Array("IEND".utf8)
  static let header = Array("IHDR".utf8)
  static let palette = Array("PLTE".utf8)
  static let transparency = Array("tRNS".utf8)
  static let data = Array("IDAT".utf8)
  static let animation = Array("acTL".utf8)
  static let frameData = Array("fdAT".utf8)

  /// The largest number of chunks that are read of a file: about 800 MB in chunks as libpng writes them.
  static let maxCount = 100_000

  /// Ancillary chunks that affect the pixels: transparency, colours, density, background, palettes, frames of an
  /// animation.
  private static let pixelChunks: Set<[UInt8]> = Set(
    [
      "tRNS", "iCCP", "sRGB", "gAMA", "cHRM", "cICP", "mDCV", "mDCv", "cLLI", "cLLi", "sBIT", "pHYs", "bKGD", "hIST",
      "sPLT", "acTL", "fcTL", "fdAT",
    ].map { Array($0.utf8) })

  /// Keywords of texts about rights (§ 11.3.3.1).
  static let rightsKeywords = [Array("Author".utf8), Array("Copyright".utf8)]
  static let maxKeyword = 79

  /// Whether a byte may be part of a name.
  static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }

  /// Checks the number of chunks that were read.
  /// - Throws: `image-corrupt`.
  static func check(count: Int) throws(ImagingError) {
    guard count > maxCount else { return }
    throw ImagingError(code: .imageCorrupt, message: "the PNG has more than \(maxCount) chunks")
  }

  /// Whether a picture can be decoded without chunks of this name (§ 5.4).
  static func isAncillary(_ name: [UInt8]) -> Bool { name.first.map { $0 & 0x20 != 0 } ?? false }

  /// The kind of damage of a wrong checksum in a chunk of this name; nil when the picture cannot be decoded with it.
  static func damage(of name: [UInt8]) -> PictureDamage.Kind? { name.count == 4 ? damage(Int(cpng_damage(name))) : nil }

  /// The kind of damage for a number of `cpng_damage`, or for 3, that of accepted damage of pixels.
  static func damage(_ number: Int) -> PictureDamage.Kind? { PictureDamage.Kind(rawValue: number - 1) }

  /// Whether chunks of this name affect the pixels.
  static func affectsPixels(_ name: [UInt8]) -> Bool { pixelChunks.contains(name) }

  /// Whether chunks of this name hold a keyword and a text.
  static func isText(_ name: [UInt8]) -> Bool { [text, plainText, compressedText].contains(name) }

  /// The bytes of a chunk: length, name, content and checksum.
  static func encoded(_ name: [UInt8], _ content: [UInt8]) -> [UInt8] {
    [UInt8](bigEndian: content.count, count: 4) + name + content
      + [UInt8](bigEndian: checksum(name, content), count: 4)
  }

  static func checksum(_ name: [UInt8], _ content: [UInt8]) -> Int {
    let checked = name + content
    return Int(crc32(0, checked, uInt(checked.count)))
  }

  /// Whether chunks of this name hold metadata.
  static func isMetadata(_ name: [UInt8]) -> Bool { colour(name) != nil || [exif, icc, text, density].contains(name) }

  private static func colour(_ name: [UInt8]) -> Metadata.PNGColourChunk? {
    Metadata.PNGColourChunk(rawValue: String(decoding: name, as: UTF8.self))
  }

  /// The keyword, compression flag and method, language and translated keyword of an XMP packet (XMP specification,
  /// part 3, § 1.1.5).
  private static let xmpHead = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8)
  private static let xmpKeyword = xmpHead.prefix(18)
  /// A profile's name, which readers ignore, and the compression method.
  private static let iccHead = Array("ICC profile\0\0".utf8)

  /// The chunk for an item; nil when PNG has none, or compression fails.
  static func chunk(of item: Metadata.Item) -> (name: [UInt8], bytes: [UInt8])? {
    switch item {
    case .exif(let bytes): (exif, bytes)
    case .xmp(let bytes): (text, xmpHead + bytes)
    case .icc(let profile): Deflate.compressed(profile).map { (icc, iccHead + $0) }
    case .pngColour(let chunk, let bytes): (Array(chunk.rawValue.utf8), bytes)
    case .density(let density): density.perMetre.map { (Self.density, bytes(of: $0)) }
    case .extendedXMP, .iptc: nil
    }
  }

  /// Whether a chunk is a profile, or an XMP packet, which may be compressed.
  static func mayBeCompressed(_ name: [UInt8], _ content: [UInt8]) -> Bool {
    name == icc || name == text && content.starts(with: xmpKeyword)
  }

  /// The item in a chunk; nil when it is invalid or no metadata.
  /// - Parameter limit: The most bytes of a compressed item, expanded.
  static func item(of name: [UInt8], bytes: [UInt8], limit: Int = ImageLimits.maxMetadataBytes) -> Metadata.Item? {
    if name == exif { return .exif(bytes) }
    if let chunk = colour(name) { return chunk.isValid(bytes) ? .pngColour(chunk, bytes) : nil }
    if name == density { return density(in: bytes).map { .density($0) } }
    if name == text { return packet(in: bytes, limit: limit).map { .xmp($0) } }
    if name == icc, let end = bytes.firstIndex(of: 0), end + 2 <= bytes.count {
      return Deflate.expanded(bytes[(end + 2)...], limit: limit).map { .icc($0) }
    }
    return nil
  }

  /// Both numbers, and 1 when their unit is the metre.
  private static func bytes(of density: PixelDensity) -> [UInt8] {
    [UInt8](bigEndian: density.horizontal, count: 4) + [UInt8](bigEndian: density.vertical, count: 4)
      + [density.unit == .metre ? 1 : 0]
  }

  /// The density in a `pHYs` chunk; nil when it is invalid or the default.
  private static func density(in bytes: [UInt8]) -> PixelDensity? {
    guard bytes.count == 9, bytes[8] <= 1 else { return nil }
    let numbers = [bytes[..<4], bytes[4..<8]].map(\.bigEndianInteger)
    // PNG's integers have 31 bits.
    guard numbers.allSatisfy({ $0 <= 0x7FFF_FFFF }) else { return nil }
    return PixelDensity(horizontal: numbers[0], vertical: numbers[1], unit: bytes[8] == 1 ? .metre : .none)
  }

  /// The XMP packet in an `iTXt` chunk, which may be compressed and in any language; nil for other texts.
  private static func packet(in bytes: [UInt8], limit: Int) -> [UInt8]? {
    guard bytes.starts(with: xmpKeyword), bytes.count > 20 else { return nil }
    let isCompressed = bytes[18] == 1
    // Language and translated keyword, each terminated by 0.
    let parts = bytes[20...].split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    return isCompressed ? Deflate.expanded(parts[2], limit: limit) : Array(parts[2])
  }
}
