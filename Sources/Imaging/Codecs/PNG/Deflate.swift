import CPNG

/// Compresses and decompresses zlib streams (RFC 1950) in memory.
enum Deflate {
  /// Compresses bytes; nil when there is not enough memory.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    var count = compressBound(uLong(bytes.count))
    var result = [UInt8](repeating: 0, count: Int(count))
    guard compress2(&result, &count, bytes, uLong(bytes.count), 9) == Z_OK else { return nil }
    result.removeSubrange(Int(count)...)
    return result
  }

  /// Decompresses the first bytes of a stream, as far as they are not damaged.
  static func prefix(of bytes: ArraySlice<UInt8>, count: Int) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    var written = uLong(count)
    // Filled, and an error, when the stream has more.
    _ = bytes.withUnsafeBufferPointer { uncompress(&result, &written, $0.baseAddress, uLong($0.count)) }
    return Array(result.prefix(Int(written)))
  }

  /// Decompresses a stream; nil when it is damaged or holds more than `limit` bytes.
  static func expanded(_ bytes: ArraySlice<UInt8>, limit: Int) -> [UInt8]? {
    var capacity = min(16 << 10, limit)
    while true {
      var result = [UInt8](repeating: 0, count: capacity)
      var count = uLong(capacity)
      let status = bytes.withUnsafeBufferPointer {
        uncompress(&result, &count, $0.baseAddress, uLong($0.count))
      }
      if status == Z_OK {
        result.removeSubrange(Int(count)...)
        return result
      }
      guard status == Z_BUF_ERROR, capacity < limit else { return nil }
      capacity = min(capacity * 8, limit)
    }
  }
}
