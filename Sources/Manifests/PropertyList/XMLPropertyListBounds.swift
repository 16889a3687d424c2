import Foundation
import JSON
import System

/// Checks the tags of an XML property list before Foundation reads it: how deep arrays, dictionaries and lists themselves are nested,
/// since its parser is recursive and crashes at ten thousand levels; how many elements there are; whether a key occurs twice in a dictionary,
/// since it silently takes the last; and whether something follows the list, which it ignores. Other errors are left to Foundation.
struct XMLPropertyListBounds {
  /// Encodings in which a tag looks as it does in ASCII.
  private static let encodings: Set = ["utf-8", "us-ascii", "ascii", "iso-8859-1"]

  private let bytes: [UInt8]
  private var position = 0

  /// The keys so far of each enclosing dictionary, with their offsets, from the outside in; nil for an array.
  private var containers: [[String: Int]?] = []

  /// The number of opening tags so far, without keys.
  private var elements = 0

  /// Whether the list itself has been opened.
  private var hasBegun = false

  /// The keys that occur twice, at most as many as are reported.
  private var duplicates: [(key: String, offset: Int, first: Int)] = []

  init(_ data: Data) { bytes = Array(data) }

  /// - Returns: The keys that occur twice, in order.
  /// - Throws: `ManifestProblem` with code `too-deep`, `too-large`, `encoding` or `syntax`.
  func check() throws(ManifestProblem) -> [ManifestProblem] {
    var scan = self
    try scan.run()
    let lines = scan.lines(of: scan.duplicates.flatMap { [$0.first, $0.offset] })
    return scan.duplicates.map { .duplicateKey($0.key, first: lines[$0.first], at: .line(lines[$0.offset] ?? 1)) }
  }

  /// The line, from 1, of each offset.
  private func lines(of offsets: [Int]) -> [Int: Int] {
    var (lines, line, counted) = ([Int: Int](), 1, 0)
    for offset in Set(offsets).sorted() {
      line += bytes[counted..<offset].count { $0 == UInt8(ascii: "\n") }
      counted = offset
      lines[offset] = line
    }
    return lines
  }

  private mutating func run() throws(ManifestProblem) {
    guard !bytes.contains(0) else { throw ManifestProblem(.encoding, "an XML property list must be UTF-8", at: .file) }
    // The old text format, which Foundation would try next, begins with a bracket, a quote or a letter.
    let start = bytes.drop { Self.spaces.contains($0) }
    guard start.first == UInt8(ascii: "<") else {
      if Self.isJSON(start) {
        throw ManifestProblem(.syntax, "this is JSON: give the file the extension .json", at: .file)
      }
      throw ManifestProblem(.syntax, "a property list must be XML or binary", at: .file)
    }
    try checkEncoding(start)
    while let tag = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      position = tag
      if isHere("</plist") { return try checkNothingFollows() }
      try take()
    }
  }

  /// Whether a text is JSON, not the old text format, whose arrays have parentheses and whose keys are followed by `=`.
  /// - Parameter text: Without white space at its beginning.
  private static func isJSON(_ text: ArraySlice<UInt8>) -> Bool {
    String(decoding: text.prefix(1024), as: UTF8.self).prefixMatch(of: /\[|\{\s*(?:"[^"]*"\s*:|\})/) != nil
  }

  /// Foundation ignores what follows the list, such as a second one.
  private mutating func checkNothingFollows() throws(ManifestProblem) {
    skip(past: ">", from: 0)
    while position < bytes.count {
      if isHere("<!--") {
        skip(past: "-->", from: 4)
      } else if isHere("<?") {
        skip(past: "?>", from: 2)
      } else if Self.spaces.contains(bytes[position]) {
        position += 1
      } else {
        let line = lines(of: [position])[position] ?? 1
        throw ManifestProblem(.syntax, "the property list has ended before this", at: .line(line))
      }
    }
  }

  /// Skips one tag, comment, section or instruction. A tag ends at the next `>`, whatever is before it, as in Foundation's parser;
  /// so no byte is examined for two tags.
  private mutating func take() throws(ManifestProblem) {
    if isHere("<!--") { return skip(past: "-->", from: 4) }
    if isHere("<![CDATA[") { return skip(past: "]]>", from: 9) }
    // Foundation takes `<?>` for a whole instruction.
    if isHere("<?") { return skip(past: "?>", from: 1) }
    let tag = position
    guard let end = bytes[tag...].firstIndex(of: UInt8(ascii: ">")) else {
      position = bytes.endIndex
      return
    }
    if !isHere("</"), !isHere("<!"), !isOpening("<key") { elements += 1 }
    guard elements <= ManifestFile.valueLimit else { throw ManifestFile.tooManyValues }
    if isOpening("<plist") {
      guard !hasBegun else {
        let line = lines(of: [tag])[tag] ?? 1
        throw ManifestProblem(.syntax, "there is a property list in the property list", at: .line(line))
      }
      hasBegun = true
    }
    let isEmpty = bytes[end - 1] == UInt8(ascii: "/")
    if isHere("</array") || isHere("</dict") {
      _ = containers.popLast()
    } else if isOpening("<key") {
      try takeKey(isEmpty ? "" : XMLPropertyListKey(bytes[(end + 1)...]).text)
    } else if !isEmpty, isOpening("<array") || isOpening("<dict") {
      containers.append(isHere("<dict") ? [:] : nil)
      guard containers.count <= JSONDocument.depthLimit else { throw ManifestProblem.propertyListTooDeep(at: .file) }
    }
    position = end + 1
  }

  /// - Parameter key: nil when it is too long.
  private mutating func takeKey(_ key: String?) throws(ManifestProblem) {
    guard let last = containers.indices.last else { return }
    guard let key, !key.hasTooManyMarks else {
      let line = lines(of: [position])[position] ?? 1
      throw key == nil
        ? ManifestProblem(.tooLarge, "a key may have \(XMLPropertyListKey.limit) bytes", at: .line(line))
        : ManifestProblem.tooManyMarks(at: .line(line))
    }
    if let first = containers[last]?[key] {
      if duplicates.count < ManifestProblem.reportLimit { duplicates.append((key, position, first)) }
    } else {
      containers[last]?[key] = position
    }
  }

  private func isHere(_ text: StaticString) -> Bool {
    bytes[position...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func isOpening(_ tag: StaticString) -> Bool {
    guard isHere(tag) else { return false }
    let after = position + tag.utf8CodeUnitCount
    return after >= bytes.count || Self.afterName.contains(bytes[after])
  }

  private mutating func skip(past end: String, from offset: Int) {
    let wanted = Array(end.utf8)
    position += offset
    while position < bytes.count {
      if bytes[position] == wanted[0], bytes[position...].starts(with: wanted) {
        position += wanted.count
        return
      }
      position += 1
    }
  }

  /// Refuses an encoding in which nesting could not be seen.
  private func checkEncoding(_ start: ArraySlice<UInt8>) throws(ManifestProblem) {
    guard start.starts(with: "<?xml".utf8) else { return }
    let declaration = String(decoding: start.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self)
    guard let match = declaration.firstMatch(of: /encoding\s*=\s*["']([^"']*)["']/) else { return }
    guard Self.encodings.contains(match.1.lowercased()) else {
      throw ManifestProblem(.encoding, "the encoding \(match.1) is not supported; write UTF-8", at: .file)
    }
  }

  private static let spaces = Array(" \t\r\n".utf8)
  private static let afterName = Array(" \t\r\n>/".utf8)
}

/// The text of a `<key>` of an XML property list, with entities resolved, so that keys can be compared. Errors are left to
/// Foundation.
struct XMLPropertyListKey {
  /// The most bytes of a key, as they are in the file.
  static let limit = 64 << 10

  private let bytes: ArraySlice<UInt8>

  /// - Parameter bytes: The bytes after the tag's `>`.
  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  /// nil when it is longer than the limit.
  var text: String? {
    var rest = bytes.prefix(Self.limit + 1)
    var text: [UInt8] = []
    while let byte = rest.first {
      if rest.starts(with: "<![CDATA[".utf8) {
        rest = rest.dropFirst(9)
        while !rest.isEmpty, !rest.starts(with: "]]>".utf8) { text.append(rest.removeFirst()) }
        rest = rest.dropFirst(3)
      } else if byte == UInt8(ascii: "<") {
        break
      } else if byte == UInt8(ascii: "&"), let scalar = Self.scalar(rest) {
        text += Array(String(scalar).utf8)
        rest = rest.drop { $0 != UInt8(ascii: ";") }.dropFirst()
      } else {
        text.append(rest.removeFirst())
      }
    }
    // It ends at a tag, unless the limit, or the file, has ended it.
    guard !rest.isEmpty || bytes.count <= Self.limit else { return nil }
    // Text that is not UTF-8 is Latin-1, or will be refused.
    return String(validating: text, as: UTF8.self) ?? String(String.UnicodeScalarView(text.map { UnicodeScalar($0) }))
  }

  /// The character of an entity `&…;`; nil when it is unknown, or a number of more than eight digits, which Foundation refuses.
  private static func scalar(_ rest: ArraySlice<UInt8>) -> UnicodeScalar? {
    let start = rest.dropFirst().prefix(11)
    guard let end = start.firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = String(decoding: start[..<end], as: UTF8.self)
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    case _ where name.hasPrefix("#x"): return UInt32(name.dropFirst(2), radix: 16).flatMap(UnicodeScalar.init)
    case _ where name.hasPrefix("#"): return UInt32(name.dropFirst()).flatMap(UnicodeScalar.init)
    default: return nil
    }
  }
}
