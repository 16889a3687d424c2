import Glibc

/// Reads a file forwards through a buffer of bounded size. Every access is checked against the buffer's bounds.
struct SequentialReader {
  private let file: FileReader
  private var buffer: [UInt8] = []
  /// The offset of the buffer's first byte in the file.
  private var start: Int64
  /// The index of the next byte in the buffer.
  private var index = 0

  /// The number of bytes that are read at a time.
  static let capacity = 32 << 10

  /// - Parameter offset: Where reading begins.
  init(_ file: FileReader, at offset: Int64 = 0) {
    self.file = file
    start = offset
  }

  /// The offset of the next byte.
  var offset: Int64 { start + Int64(index) }

  /// Reads a byte; nil at the file's end.
  mutating func next() throws(ImagingError) -> UInt8? {
    if index == buffer.count { try fill() }
    guard index < buffer.count else { return nil }
    defer { index += 1 }
    return buffer[index]
  }

  /// Reads `count` bytes, at most `capacity`; nil when the file ends before.
  mutating func next(_ count: Int) throws(ImagingError) -> ArraySlice<UInt8>? {
    let bytes = try peek(count)
    if bytes != nil { index += count }
    return bytes
  }

  /// The next `count` bytes, at most `capacity`, without advancing; nil when the file ends before.
  mutating func peek(_ count: Int) throws(ImagingError) -> ArraySlice<UInt8>? {
    precondition(count <= Self.capacity)
    if buffer.count - index < count { try fill() }
    guard buffer.count - index >= count else { return nil }
    return buffer[index..<(index + count)]
  }

  /// Reads a piece of the next `limit` bytes, as large as the buffer has; nil at the file's end.
  mutating func piece(upTo limit: Int) throws(ImagingError) -> ArraySlice<UInt8>? {
    if index == buffer.count { try fill() }
    guard index < buffer.count else { return nil }
    let end = index + min(limit, buffer.count - index)
    defer { index = end }
    return buffer[index..<end]
  }

  /// Skips `count` bytes, even beyond the file's end.
  mutating func skip(_ count: Int) {
    if count <= buffer.count - index {
      index += count
    } else {
      (start, index, buffer) = (offset + Int64(count), 0, [])
    }
  }

  /// Skips to after the next byte of this value; returns whether there is one.
  mutating func skip(past byte: UInt8) throws(ImagingError) -> Bool {
    while true {
      if index == buffer.count {
        try fill()
        if buffer.isEmpty { return false }
      }
      let found = buffer.withUnsafeBytes { bytes -> Int? in
        let rest = UnsafeRawBufferPointer(rebasing: bytes[index...])
        guard let base = rest.baseAddress, let found = memchr(base, Int32(byte), rest.count) else { return nil }
        return UnsafeRawPointer(found) - base
      }
      if let found {
        index += found + 1
        return true
      }
      index = buffer.count
    }
  }

  /// Fills the buffer from the next byte on.
  private mutating func fill() throws(ImagingError) {
    start = offset
    index = 0
    buffer = try file.bytes(Self.capacity, at: start)
  }
}
