/// Finds keys that occur twice in an object of a JSON text. jansson only reports that there is one.
struct DuplicateKeys {
  private typealias Position = (line: Int, column: Int)

  /// A container around the position.
  private enum Container {
    case array
    /// The keys so far, and whether a key comes next.
    case object(keys: [[UInt8]: Position], isKeyNext: Bool)
  }

  private let text: UnsafeRawBufferPointer
  private var index = 0
  private var position: Position
  private var containers: [Container] = []
  private var found: [JSONError] = []

  private init(_ text: UnsafeRawBufferPointer, line: Int) {
    self.text = text
    position = (line, 1)
  }

  /// Returns an error for each key that occurs again in its object, with the line and column of both, in the order of the text.
  /// After invalid JSON or too deep nesting, the result is meaningless.
  /// - Parameters:
  ///   - line: The line of the text's beginning in its file, from 1.
  ///   - limit: The most errors that are returned.
  static func find(in text: UnsafeRawBufferPointer, line: Int, limit: Int) -> [JSONError] {
    var scan = DuplicateKeys(text, line: line)
    while scan.index < text.count, scan.found.count < limit, scan.containers.count <= JSONDocument.depthLimit {
      scan.take()
    }
    return scan.found
  }

  private mutating func take() {
    switch text[index] {
    case UInt8(ascii: "{"): containers.append(.object(keys: [:], isKeyNext: true))
    case UInt8(ascii: "["): containers.append(.array)
    case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = containers.popLast()
    case UInt8(ascii: ","): expectKey()
    case UInt8(ascii: "\""): return takeString()
    default: break
    }
    advance()
  }

  private mutating func advance() {
    if text[index] == UInt8(ascii: "\n") {
      position = (position.line + 1, 1)
    } else if text[index] & 0xc0 != 0x80 {
      position.column += 1
    }
    index += 1
  }

  private mutating func expectKey() {
    // Taken out meanwhile, so that the keys are not copied.
    guard case .object(let keys, _)? = containers.popLast() else { return containers.append(.array) }
    containers.append(.object(keys: keys, isKeyNext: true))
  }

  private mutating func takeString() {
    let (start, location) = (index, position)
    advance()
    while index < text.count, text[index] != UInt8(ascii: "\"") {
      if text[index] == UInt8(ascii: "\\"), index + 1 < text.count { advance() }
      advance()
    }
    guard index < text.count else { return }
    advance()
    guard case .object(var keys, true)? = containers.last else { return }
    _ = containers.popLast()
    let key = Self.decoded(text[start..<index])
    if let first = keys[key] {
      found.append(Self.error(key, at: location, first: first))
    } else {
      keys[key] = location
    }
    containers.append(.object(keys: keys, isKeyNext: false))
  }

  /// The bytes of a string, given with its quotes.
  private static func decoded(_ string: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
    guard string.contains(UInt8(ascii: "\\")) else { return Array(string.dropFirst().dropLast()) }
    let value = try? JSONDocument(parsing: UnsafeRawBufferPointer(rebasing: string), allowingNUL: true).value()
    return Array((value?.string ?? "").utf8)
  }

  private static func error(_ key: [UInt8], at location: Position, first: Position) -> JSONError {
    // Whole: in what is cut first, a password may not be found.
    let shown = String(decoding: key, as: UTF8.self)
    if shown.hasTooManyMarks {
      return JSONError(.tooManyMarks, String.tooManyMarksMessage, at: .line(location.line, column: location.column))
    }
    return JSONError(
      .duplicateKey,
      "the key \"\(shown)\" occurs twice in its object; the first time at line \(first.line), column \(first.column)",
      at: .line(location.line, column: location.column))
  }
}

extension JSONError.Location {
  /// Whether a position comes before another.
  func isBefore(_ other: JSONError.Location) -> Bool {
    guard case .line(let line, let column) = self, case .line(let otherLine, let otherColumn) = other else {
      return true
    }
    return (line, column) < (otherLine, otherColumn)
  }
}
