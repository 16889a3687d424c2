/// The header of a WebP bit stream, checked as libwebp checks it.
struct WebPStreamHeader {
  let width, height: Int
  let hasAlpha: Bool

  /// The largest number of bytes that are read.
  static let maxBytes = 10

  /// Reads the header of VP8 (RFC 6386 § 9.1) from the beginning of a chunk; nil when it is invalid.
  init?(lossy bytes: ArraySlice<UInt8>, of chunk: WebPChunk) {
    guard bytes.count >= Self.maxBytes else { return nil }
    let head = Array(bytes)
    let frame = head[0..<3].littleEndianInteger
    let (isKeyFrame, profile, isShown, partitionBytes) = (
      frame & 1 == 0, frame >> 1 & 7, frame >> 4 & 1 == 1, frame >> 5
    )
    (width, height) = (head[6..<8].littleEndianInteger & 0x3FFF, head[8..<10].littleEndianInteger & 0x3FFF)
    hasAlpha = false
    guard isKeyFrame, profile <= 3, isShown, partitionBytes < chunk.count, head[3..<6] == [0x9D, 0x01, 0x2A], width > 0,
      height > 0
    else { return nil }
  }

  /// Reads the header of lossless WebP (RFC 9649 § 3.4) from the beginning of a chunk; nil when it is invalid.
  init?(lossless bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 5, bytes.first == 0x2F else { return nil }
    let bits = bytes.dropFirst().prefix(4).littleEndianInteger
    (width, height, hasAlpha) = (1 + bits & 0x3FFF, 1 + (bits >> 14) & 0x3FFF, bits >> 28 & 1 == 1)
    let version = bits >> 29
    guard version == 0 else { return nil }
  }
}
