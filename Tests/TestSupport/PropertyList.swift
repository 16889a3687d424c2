import Foundation

/// Property lists as bytes: real ones by Foundation, and binary ones put together by hand.
package enum PropertyList {
  package static func binary(_ value: Any) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: value, format: .binary, options: 0)
  }

  package static func xml(_ value: Any) throws -> Data {
    try PropertyListSerialization.data(fromPropertyList: value, format: .xml, options: 0)
  }

  /// An XML list around a body.
  package static func xml(body: String) -> String {
    #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0">"# + body + "</plist>"
  }

  /// A binary list of encoded objects, the first of them its root. References take two bytes.
  package static func binary(objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(bytes.count)
      bytes += object
    }
    let table = bytes.count
    bytes += offsets.flatMap { bigEndian($0, bytes: 4) }
    bytes += [0, 0, 0, 0, 0, 0, 4, 2]
    bytes += bigEndian(objects.count, bytes: 8) + bigEndian(0, bytes: 8) + bigEndian(table, bytes: 8)
    return bytes
  }

  /// An array of at most 14 objects, for `binary(objects:)`.
  package static func array(of references: [Int]) -> [UInt8] {
    [0xa0 | UInt8(references.count)] + references.flatMap { bigEndian($0, bytes: 2) }
  }

  /// A dictionary of at most 14 pairs, for `binary(objects:)`.
  package static func dictionary(keys: [Int], values: [Int]) -> [UInt8] {
    [0xd0 | UInt8(keys.count)] + (keys + values).flatMap { bigEndian($0, bytes: 2) }
  }

  /// A string of at most 14 ASCII characters, for `binary(objects:)`.
  package static func string(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }

  private static func bigEndian(_ value: Int, bytes: Int) -> [UInt8] {
    (0..<bytes).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
