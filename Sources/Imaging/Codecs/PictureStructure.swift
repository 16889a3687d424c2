/// The layout of a picture's file, read in memory-safe code without the format's library and without decoding: enough for a
/// copy. The verdict on the header is that of the format's `RowDecoder`, except for `decodingError`.
protocol PictureStructure: SendableMetatype {
  /// Reads the header.
  /// - Throws: `unsupported-format`, `image-corrupt`, `image-truncated`, `image-too-large`, `image-too-small`, `io`, as the
  ///   format's decoder does; `image-corrupt` also when there are too many segments or chunks; `cancelled`.
  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError)

  /// The contents of the header.
  var info: ImageInfo { get }

  /// The contents of a copy's header. Default: the same.
  var copiedInfo: ImageInfo { get }

  /// Damage of the header that does not prevent a copy. Default: nil.
  var damage: PictureDamage? { get }

  /// The decoder's error because of that damage, when pixels may depend on it. Default: nil.
  var decodingError: ImagingError? { get }

  /// The parts of the file that make up a copy: the unchanged coded picture, the parts that it depends on, and the metadata that
  /// a policy keeps; never bytes after the picture's end.
  /// - Throws: `image-corrupt` when there are too many parts, segments or chunks, `image-too-large` when there are too many
  ///   scans, `io`, `cancelled`.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts
}

extension PictureStructure {
  var copiedInfo: ImageInfo { info }
  var damage: PictureDamage? { nil }
  var decodingError: ImagingError? { nil }
}

/// The parts that a lossless copy of a file consists of, in order, assembled from the file's beginning to its end.
struct CopiedParts {
  private(set) var parts: [LosslessCopy.Part] = []
  /// Whether metadata was left out because it could not be read.
  var hasUnreadableMetadata = false
  /// Whether metadata that was to be left out may still be there.
  var mayKeepMetadata = false
  /// The offset up to which the file's bytes are kept, replaced or dropped.
  private(set) var offset: Int64 = 0

  /// More parts are an attack: they would have to be held in memory. Default: `limit`.
  private let limit: Int
  static let limit = 10_000

  init(limit: Int = limit) { self.limit = limit }

  /// Copies the bytes up to an offset.
  mutating func keep(upTo end: Int64) throws(ImagingError) {
    guard end > offset else { return }
    if case .range(let range) = parts.last, range.upperBound == offset {
      parts[parts.count - 1] = .range(range.lowerBound..<end)
    } else {
      try append(.range(offset..<end))
    }
    offset = end
  }

  /// Leaves out the bytes up to an offset.
  mutating func drop(upTo end: Int64) { offset = max(offset, end) }

  /// Replaces the bytes up to an offset.
  mutating func replace(upTo end: Int64, by bytes: [UInt8]) throws(ImagingError) {
    drop(upTo: end)
    try append(.bytes(bytes))
  }

  /// Overwrites the bytes up to an offset with zeros.
  mutating func blank(upTo end: Int64) throws(ImagingError) {
    guard end > offset else { return }
    if case .zeros(let count) = parts.last {
      parts[parts.count - 1] = .zeros(count + Int(end - offset))
    } else {
      try append(.zeros(Int(end - offset)))
    }
    offset = end
  }

  /// Overwrites a range with zeros, as far as it has other bytes, which are read.
  mutating func blank(_ range: Range<Int64>, of file: FileReader) throws(ImagingError) {
    for start in stride(from: max(range.lowerBound, offset), to: range.upperBound, by: Int64.Stride(Self.pieceBytes)) {
      let piece = start..<min(start + Self.pieceBytes, range.upperBound)
      guard try file.bytes(piece.count, at: piece.lowerBound).contains(where: { $0 != 0 }) else { continue }
      try keep(upTo: piece.lowerBound)
      try blank(upTo: piece.upperBound)
    }
  }

  /// The bytes that are compared at a time.
  private static let pieceBytes: Int64 = 64 << 10

  private mutating func append(_ part: LosslessCopy.Part) throws(ImagingError) {
    guard parts.count < limit else {
      throw ImagingError(
        code: .imageCorrupt, message: "the picture has more than \(limit) pieces of metadata to leave out")
    }
    parts.append(part)
  }
}
