/// The parts that a lossless copy of a file consists of, in order, assembled from the file's beginning to its end.
struct CopiedParts {
  private(set) var parts: [LosslessCopy.Part] = []
  /// Whether metadata was left out because it could not be read.
  var hasUnreadableMetadata = false
  /// Up to where it is decided what becomes of the file's bytes.
  private(set) var offset: Int64 = 0

  /// More parts are an attack: they would have to be held in memory.
  static let limit = 10_000

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

  /// Has other bytes take the place of those up to an offset.
  mutating func replace(upTo end: Int64, by bytes: [UInt8]) throws(ImagingError) {
    drop(upTo: end)
    try append(.bytes(bytes))
  }

  private mutating func append(_ part: LosslessCopy.Part) throws(ImagingError) {
    guard parts.count < Self.limit else {
      throw ImagingError(
        code: .imageCorrupt, message: "the picture has more than \(Self.limit) pieces of metadata to leave out")
    }
    parts.append(part)
  }
}
