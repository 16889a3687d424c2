/// Writes the fields of a message one after the other.
struct MessageWriter {
  private(set) var bytes: [UInt8] = []

  mutating func writeByte(_ value: UInt8) { bytes.append(value) }

  /// Writes eight bytes, little-endian.
  mutating func write(_ value: Int) {
    withUnsafeBytes(of: Int64(value).littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Writes the rest of the message.
  mutating func writeRest(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

/// Reads the fields of a message. The message is not trusted: methods return nil when a field is missing or invalid.
struct MessageReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8? { rest.popFirst() }

  /// Reads eight bytes, little-endian.
  /// - Parameter range: The valid numbers.
  mutating func integer(in range: ClosedRange<Int>) -> Int? {
    guard rest.count >= 8 else { return nil }
    let bits = rest.prefix(8).enumerated().reduce(UInt64(0)) { $0 | UInt64($1.element) << (8 * UInt64($1.offset)) }
    rest = rest.dropFirst(8)
    let value = Int(Int64(bitPattern: bits))
    return range.contains(value) ? value : nil
  }

  /// Reads an index into a list.
  mutating func member<Member>(of list: [Member]) -> Member? {
    guard let index = byte(), Int(index) < list.count else { return nil }
    return list[Int(index)]
  }

  /// Reads the rest as UTF-8. Invalid bytes become U+FFFD.
  mutating func restText() -> String {
    defer { rest = [] }
    return String(decoding: rest, as: UTF8.self)
  }
}
