/// The headers of a BMP file: the file header and one of the second headers of OS/2 and Windows ("Bitmap storage" in the
/// documentation of the Windows API).
struct BMPHeader {
  /// How pixels are stored.
  enum Storage: Equatable {
    /// Indices of 1, 2, 4 or 8 bits.
    case indices(bits: Int)
    /// Numbers of 16, 24 or 32 bits, with the bits of red, green, blue and alpha in them.
    case numbers(bits: Int, [BMPMask])
    /// Runs of indices of 4 or 8 bits.
    case runs(bits: Int)
  }

  /// The sizes of second headers that are read: OS/2 1, Windows 3 and its extensions, OS/2 2, Windows 4 and 5.
  static let sizes = [12, 40, 52, 56, 64, 108, 124]

  let width, height: Int
  /// Whether the first row in the file is the uppermost.
  let isTopDown: Bool
  let storage: Storage
  /// The 256 pixels of the indices, as bytes of red, green, blue and alpha in the order of memory: black for those without a
  /// colour. Empty when there are none.
  let pixels: [UInt32]
  /// The offset of the pixels in the file.
  let pixelOffset: Int64
  /// The embedded colour profile.
  let profile: Range<Int64>?
  let density: PixelDensity?

  /// Reads the headers and the colours of a file.
  /// - Throws: `image-truncated`, `image-corrupt`, `unsupported-format`, `image-too-large`, `image-too-small`, `io`.
  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    let start = try file.bytes(Self.fileHeaderBytes + 4, at: 0)
    guard start.count == Self.fileHeaderBytes + 4 else { throw .truncatedBMP }
    let size = start[Self.fileHeaderBytes...].littleEndianInteger
    // The masks may follow the header.
    let bytes = try file.bytes(size + 16, at: Int64(Self.fileHeaderBytes))
    guard bytes.count >= size else { throw .truncatedBMP }
    let fields = Fields(bytes: bytes, size: size)

    (width, height, isTopDown) = (fields.width, abs(fields.height), fields.height < 0)
    guard width > 0 else { throw .bmp("its width is \(width)") }
    try limits.check(width: width, height: height)
    pixelOffset = Int64(start[10..<14].littleEndianInteger)
    guard pixelOffset >= Self.fileHeaderBytes + size else { throw .bmp("its pixels begin within its headers") }
    storage = try Self.storage(fields)
    pixels = try Self.pixels(fields, storage, file, before: pixelOffset)
    profile = fields.profile
    density = PixelDensity(horizontal: fields.signed(24), vertical: fields.signed(28), unit: .metre)
  }

  /// The bits of a pixel.
  var bits: Int {
    switch storage {
    case .indices(let bits), .numbers(let bits, _), .runs(let bits): bits
    }
  }

  /// The bytes of a row of a picture that is not compressed: a multiple of 4.
  var rowBytes: Int { (width * bits + 31) / 32 * 4 }

  /// Whether the pixels' numbers have bits for alpha.
  var hasAlphaBits: Bool {
    if case .numbers(_, let masks) = storage { return masks[3].maximum > 0 }
    return false
  }

  private static let fileHeaderBytes = 14

  private static func storage(_ fields: Fields) throws(ImagingError) -> Storage {
    let isOS2 = fields.size == 12 || fields.size == 64
    switch (fields.compression, fields.bits) {
    case (0, 1), (0, 2), (0, 4), (0, 8): return .indices(bits: fields.bits)
    case (0, 16): return .numbers(bits: 16, [0x7C00, 0x03E0, 0x001F, 0].map(BMPMask.init))
    case (0, 24): return .numbers(bits: 24, [0xFF_0000, 0xFF00, 0xFF, 0].map(BMPMask.init))
    case (0, 32): return .numbers(bits: 32, [0xFF_0000, 0xFF00, 0xFF, fields[52, 4, from: 56]].map(BMPMask.init))
    case (1, 8): return .runs(bits: 8)
    case (2, 4): return .runs(bits: 4)
    case (3, 16) where !isOS2, (3, 32) where !isOS2, (6, 16) where !isOS2, (6, 32) where !isOS2:
      let count = fields.size >= 56 || fields.compression == 6 ? 4 : 3
      guard fields.bytes.count >= 40 + 4 * count else { throw .truncatedBMP }
      let masks = (0..<4).map { $0 < count ? fields.bytes[(40 + 4 * $0)..<(44 + 4 * $0)].littleEndianInteger : 0 }
      return .numbers(bits: fields.bits, masks.map(BMPMask.init))
    default:
      throw ImagingError(
        code: .unsupportedFormat,
        message: "the BMP is of a kind that is not read: compression \(fields.compression), \(fields.bits) bits")
    }
  }

  /// Reads the colours, of 3 bytes each in OS/2's first version and of 4 since.
  private static func pixels(
    _ fields: Fields, _ storage: Storage, _ file: FileReader, before pixelOffset: Int64
  ) throws(ImagingError) -> [UInt32] {
    if case .numbers = storage { return [] }
    let (start, step) = (Int64(fileHeaderBytes + fields.size), fields.size == 12 ? 3 : 4)
    let announced = fields[32, 4, from: 40]
    let room = Int(clamping: max(pixelOffset - start, 0)) / step
    let count = min(announced > 0 ? announced : 1 << fields.bits, 1 << fields.bits, room)
    let bytes = try file.bytes(count * step, at: start)
    guard bytes.count == count * step else { throw .truncatedBMP }
    guard count > 0 else { throw .bmp("it has no colours") }
    var pixels = [UInt32](repeating: 0xFF00_0000, count: 256)
    for index in 0..<count {
      let (blue, green, red) = (bytes[step * index], bytes[step * index + 1], bytes[step * index + 2])
      pixels[index] |= UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16
    }
    return pixels
  }
}

/// The fields of a second header.
private struct Fields {
  /// The header, and up to 16 bytes that follow it.
  let bytes: [UInt8]
  let size: Int

  /// An unsigned integer; 0 when the header is smaller than `minimum` bytes.
  subscript(_ offset: Int, _ count: Int, from minimum: Int) -> Int {
    size < minimum ? 0 : bytes[offset..<(offset + count)].littleEndianInteger
  }

  var width: Int { size == 12 ? self[4, 2, from: 12] : signed(4) }
  var height: Int { size == 12 ? self[6, 2, from: 12] : signed(8) }
  var bits: Int { size == 12 ? self[10, 2, from: 12] : self[14, 2, from: 40] }
  var compression: Int { self[16, 4, from: 40] }

  /// A signed integer of 4 bytes; 0 in the header of OS/2 1.
  func signed(_ offset: Int) -> Int { Int(Int32(truncatingIfNeeded: self[offset, 4, from: 40])) }

  /// The profile of a header that says that it has one (`PROFILE_EMBEDDED`).
  var profile: Range<Int64>? {
    guard self[56, 4, from: 124] == 0x4D42_4544 else { return nil }
    let (offset, count) = (Int64(14 + self[112, 4, from: 124]), Int64(self[116, 4, from: 124]))
    return count > 0 && count <= ImageLimits.maxMetadataBytes ? offset..<(offset + count) : nil
  }
}

/// The bits of a channel in a pixel's number.
struct BMPMask: Equatable {
  private let shift: Int
  /// The largest value of the bits; 0 without any.
  let maximum: Int

  /// - Parameter mask: Bits without a gap between them; those behind a gap are ignored.
  init(_ mask: Int) {
    shift = mask == 0 ? 0 : mask.trailingZeroBitCount
    let bits = mask >> shift
    maximum = (1 << (~bits).trailingZeroBitCount) - 1
  }

  /// The channel's value in 0…255; 0 without bits.
  func value(in number: Int) -> UInt32 {
    maximum == 0 ? 0 : UInt32(((number >> shift & maximum) * 255 + maximum / 2) / maximum)
  }
}

extension ImagingError {
  static func bmp(_ what: String) -> ImagingError {
    ImagingError(code: .imageCorrupt, message: "the BMP cannot be decoded: \(what)")
  }

  static let truncatedBMP = ImagingError(code: .imageTruncated, message: "the BMP ends before its picture does")
}
