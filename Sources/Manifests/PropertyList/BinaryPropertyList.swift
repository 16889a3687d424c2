import Foundation
import JSON
import System

/// A binary property list (`bplist00`), read with limits. Foundation's reader is unsafe for untrusted files: it is recursive for
/// each level of nesting, and sets and UIDs, which have no meaning here, crash it.
///
/// Layout: the magic, the objects, a table of their offsets, and a 32-byte trailer that ends with the size of an offset
/// (1 byte), the size of a reference (1), the number of objects (8), the root (8) and the table's offset (8). An object
/// begins with its kind (4 bits) and its length (4 bits; 15: an integer object with the length follows).
struct BinaryPropertyList {
  static let magic = Array("bplist0".utf8)
  private static let damaged = ManifestProblem(.syntax, "the binary property list is damaged, or cut off", at: .file)

  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let root: Int
  private let table: Int

  /// The bytes that may still be unpacked: objects may be shared, so that a small file can expand to a huge one.
  private var left = ManifestFile.wholeLimit

  /// The number of values so far.
  private var values = 0

  /// The containers that have been read.
  private var known: [Int: Container] = [:]

  /// The keys that occur twice, at most as many as are reported.
  private var duplicates: [ManifestProblem] = []

  private struct Container {
    let value: JSONValue
    /// Levels of arrays and dictionaries, itself included.
    let height: Int
    /// Its size in bytes with all contents, shared ones counted each time.
    let bytes: Int
  }

  init(_ data: Data) throws(ManifestProblem) {
    bytes = Array(data)
    let trailer = bytes.count - 32
    guard trailer >= 8 else { throw Self.damaged }
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    count = Self.number(bytes[(trailer + 8)..<(trailer + 16)])
    root = Self.number(bytes[(trailer + 16)..<(trailer + 24)])
    table = Self.number(bytes[(trailer + 24)...])
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, 8...trailer ~= table,
      count <= (trailer - table) / offsetSize
    else { throw Self.damaged }
  }

  /// The root with all contents, dictionaries in the order of their keys.
  /// - Returns: The root, and the keys that occur twice, of which it has one value.
  /// - Throws: `ManifestProblem` with code `syntax`, `encoding`, `too-deep`, `too-large`, `wrong-type`
  ///   or `bad-value`.
  func read() throws(ManifestProblem) -> (value: JSONValue, duplicates: [ManifestProblem]) {
    var reader = self
    let value = try reader.object(root, at: [], in: [])
    return (value, reader.duplicates)
  }

  /// - Parameter outer: The containers around the object.
  private mutating func object(
    _ number: Int, at path: [String], in outer: [Int]
  ) throws(ManifestProblem) -> JSONValue {
    values += 1
    guard values <= ManifestFile.valueLimit else { throw ManifestFile.tooManyValues }
    let start = try offset(of: number)
    let (kind, low) = (bytes[start] >> 4, Int(bytes[start] & 0xf))
    switch (kind, low) {
    case (0x0, 0x8): return .bool(false)
    case (0x0, 0x9): return .bool(true)
    case (0x1, 0...4):
      guard let value = Self.integer(try take(1 << low, after: start)) else { throw .numberTooLarge(at: path) }
      return .integer(value)
    case (0x2, 2): return try .real(Double(Float(bitPattern: UInt32(Self.bits(try take(4, after: start))))), at: path)
    case (0x2, 3): return try .real(Double(bitPattern: Self.bits(try take(8, after: start))), at: path)
    case (0x5, _), (0x6, _): return .string(try string(start, at: path))
    case (0xa, _), (0xd, _):
      return try container(number, at: path, in: outer).value
    case (0x3, _), (0x4, _), (0x8, _), (0xb, _), (0xc, _):
      throw .propertyListOnly(at: path)
    default: throw Self.damaged
    }
  }

  private mutating func container(
    _ number: Int, at path: [String], in outer: [Int]
  ) throws(ManifestProblem) -> Container {
    guard !outer.contains(number) else {
      throw ManifestProblem(.syntax, "an object of the property list holds itself", at: .keyPath(path))
    }
    guard outer.count + (known[number]?.height ?? 1) <= JSONDocument.depthLimit else {
      throw .propertyListTooDeep(at: .keyPath(path))
    }
    if let container = known[number] {
      try spend(container.bytes)
      return container
    }
    let before = left
    let start = try offset(of: number)
    let (count, first) = try length(at: start)
    let isDictionary = bytes[start] >> 4 == 0xd
    let keys = try isDictionary ? self.keys(references(count, from: first), at: path) : []
    let held = try references(count, from: isDictionary ? first + count * referenceSize : first)
    var values: [JSONValue] = []
    for (position, reference) in held.enumerated() {
      let step = isDictionary ? keys[position] : "[\(position)]"
      values.append(try object(reference, at: path + [step], in: outer + [number]))
    }
    let value = isDictionary ? dictionary(keys, values, at: path) : .array(values)
    let height = 1 + (held.map { known[$0]?.height ?? 0 }.max() ?? 0)
    let container = Container(value: value, height: height, bytes: before - left)
    known[number] = container
    return container
  }

  private mutating func keys(_ references: [Int], at path: [String]) throws(ManifestProblem) -> [String] {
    var keys: [String] = []
    for reference in references {
      let start = try offset(of: reference)
      guard 0x5...0x6 ~= bytes[start] >> 4 else {
        throw ManifestProblem(.syntax, "a key of a dictionary is not a string", at: .keyPath(path))
      }
      let key = try string(start, at: path)
      guard !key.utf8.contains(0) else {
        throw ManifestProblem(.syntax, "a key of a dictionary holds U+0000", at: .keyPath(path))
      }
      keys.append(key)
    }
    return keys
  }

  private mutating func dictionary(_ keys: [String], _ values: [JSONValue], at path: [String]) -> JSONValue {
    let sorted = zip(keys, values).map { JSONValue.Member($0, $1) }.sorted { $0.key < $1.key }
    var members: [JSONValue.Member] = []
    members.reserveCapacity(sorted.count)
    for member in sorted {
      if member.key != members.last?.key {
        members.append(member)
      } else if duplicates.count < ManifestProblem.reportLimit {
        duplicates.append(.duplicateKey(member.key, at: .keyPath(path + [member.key])))
      }
    }
    return .object(members)
  }

  private mutating func string(_ start: Int, at path: [String]) throws(ManifestProblem) -> String {
    let isWide = bytes[start] >> 4 == 0x6
    let (count, first) = try length(at: start)
    guard count <= (table - first) / (isWide ? 2 : 1) else { throw Self.damaged }
    let content = try take(count * (isWide ? 2 : 1), after: first - 1)
    let text =
      isWide
      ? String(
        validating: stride(from: content.startIndex, to: content.endIndex, by: 2).map {
          UInt16(content[$0]) << 8 | UInt16(content[$0 + 1])
        }, as: UTF16.self)
      : String(validating: content, as: UTF8.self)
    guard let text else { throw ManifestProblem(.encoding, "a string is not valid Unicode", at: .keyPath(path)) }
    if text.hasTooManyMarks { throw .tooManyMarks(at: .keyPath(path)) }
    return text
  }

  /// Integers of 1, 2 and 4 bytes are unsigned, those of 8 and 16 signed; nil for a value that does not fit into 64 bits.
  private static func integer(_ bytes: ArraySlice<UInt8>) -> Int? {
    let low = Int(truncatingIfNeeded: bits(bytes.suffix(8)))
    guard bytes.count == 16 else { return low }
    let high = Int(truncatingIfNeeded: bits(bytes.prefix(8)))
    return high == (low < 0 ? -1 : 0) ? low : nil
  }

  // MARK: Bytes

  private func offset(of object: Int) throws(ManifestProblem) -> Int {
    guard object < count else { throw Self.damaged }
    let entry = table + object * offsetSize
    let offset = Self.number(bytes[entry..<(entry + offsetSize)])
    guard 8..<table ~= offset else { throw Self.damaged }
    return offset
  }

  /// Bytes of an object, after its first.
  private mutating func take(_ size: Int, after start: Int) throws(ManifestProblem) -> ArraySlice<UInt8> {
    guard size <= table - start - 1 else { throw Self.damaged }
    try spend(size + 1)
    return bytes[(start + 1)..<(start + 1 + size)]
  }

  private mutating func spend(_ size: Int) throws(ManifestProblem) {
    left -= size
    guard left >= 0 else {
      throw ManifestProblem(
        .tooLarge, "the limit for this format is \(ManifestFile.wholeLimit) bytes; unpacked, the file has more",
        at: .file)
    }
  }

  private mutating func references(_ count: Int, from first: Int) throws(ManifestProblem) -> [Int] {
    guard count <= (table - first) / referenceSize else { throw Self.damaged }
    let content = try take(count * referenceSize, after: first - 1)
    return stride(from: content.startIndex, to: content.endIndex, by: referenceSize).map {
      Self.number(content[$0..<($0 + referenceSize)])
    }
  }

  /// The number of elements of an object, and the position of the first.
  private func length(at start: Int) throws(ManifestProblem) -> (count: Int, first: Int) {
    let low = Int(bytes[start] & 0xf)
    guard low == 0xf else { return (low, start + 1) }
    guard start + 1 < table, 0x10...0x13 ~= bytes[start + 1] else { throw Self.damaged }
    let first = start + 2 + (1 << Int(bytes[start + 1] & 0xf))
    guard first <= table else { throw Self.damaged }
    return (Self.number(bytes[(start + 2)..<first]), first)
  }

  /// Up to 8 bytes, big-endian.
  private static func bits(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

  /// Up to 8 bytes, big-endian; `Int.max` for larger values.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { Int(clamping: bits(bytes)) }
}
