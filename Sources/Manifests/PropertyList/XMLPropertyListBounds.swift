import Foundation
import JSON

/// Looks at the tags of an XML property list before Foundation reads it: how deep arrays and dictionaries are nested,
/// since its parser calls itself for each level and dies of ten thousand; and whether a key occurs twice in a dictionary,
/// since it takes the last without a word. Whether the text is otherwise in order is left to it.
struct XMLPropertyListBounds {
  /// Encodings in which a tag looks as it does in ASCII.
  private static let encodings: Set = ["utf-8", "us-ascii", "ascii", "iso-8859-1"]

  private let bytes: [UInt8]
  private var position = 0

  /// The keys so far of each dictionary that the position is in, with their places, from the outside in; nil for an array.
  private var containers: [[String: Int]?] = []

  /// The keys that occur twice, at most as many as are reported.
  private var duplicates: [(key: String, place: Int, first: Int)] = []

  init(_ data: Data) { bytes = Array(data) }

  /// - Returns: The keys that occur twice, in order.
  /// - Throws: `ManifestProblem` with code `too-deep`, `encoding` or `syntax`.
  func check() throws(ManifestProblem) -> [ManifestProblem] {
    var scan = self
    try scan.run()
    let lines = scan.lines(of: scan.duplicates.flatMap { [$0.first, $0.place] })
    return scan.duplicates.map { .duplicateKey($0.key, first: lines[$0.first], at: .line(lines[$0.place] ?? 1)) }
  }

  /// The line, from 1, of each of some places.
  private func lines(of places: [Int]) -> [Int: Int] {
    var (lines, line, counted) = ([Int: Int](), 1, 0)
    for place in Set(places).sorted() {
      line += bytes[counted..<place].count { $0 == UInt8(ascii: "\n") }
      counted = place
      lines[place] = line
    }
    return lines
  }

  private mutating func run() throws(ManifestProblem) {
    guard !bytes.contains(0) else {
      throw ManifestProblem(.encoding, "an XML property list must be UTF-8", at: .file)
    }
    // The old text format, which Foundation would try next, begins with a bracket, a quote or a letter.
    let start = bytes.drop { Self.spaces.contains($0) }
    guard start.first == UInt8(ascii: "<") else {
      throw ManifestProblem(.syntax, "a property list must be XML or binary", at: .file)
    }
    try checkEncoding(start)
    while let tag = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
      position = tag
      try take()
    }
  }

  /// Goes past one tag, comment, section or instruction.
  private mutating func take() throws(ManifestProblem) {
    if isHere("<!--") { return skip(past: "-->", from: 4) }
    if isHere("<![CDATA[") { return skip(past: "]]>", from: 9) }
    if isHere("<?") { return skip(past: "?>", from: 2) }
    if isHere("</array") || isHere("</dict") {
      _ = containers.popLast()
    } else if isOpening("<key") {
      takeKey()
    } else if isOpening("<array") || isOpening("<dict") {
      let end = bytes[position...].firstIndex(of: UInt8(ascii: ">")) ?? bytes.endIndex - 1
      if bytes[end - 1] != UInt8(ascii: "/") { containers.append(isHere("<dict") ? [:] : nil) }
      guard containers.count <= JSONDocument.depthLimit else { throw ManifestProblem.propertyListTooDeep(at: .file) }
    }
    position += 1
  }

  private mutating func takeKey() {
    guard let last = containers.indices.last else { return }
    // What is inside is looked at as all else: only its text is wanted.
    let key = XMLPropertyListKey(bytes[position...]).text
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

  /// An encoding in which nesting would not be seen is refused.
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

/// The text of a `<key>` of an XML property list, with what stands for characters resolved, so that keys can be
/// compared. Whether it is in order is left to Foundation.
struct XMLPropertyListKey {
  /// What comes later does not tell keys apart. A key that is never closed must not take the rest of the file, again
  /// and again.
  static let limit = 64 << 10

  private let bytes: ArraySlice<UInt8>

  /// - Parameter bytes: From the tag's `<` on.
  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  var text: String {
    guard let end = bytes.firstIndex(of: UInt8(ascii: ">")) else { return "" }
    var rest = bytes[(end + 1)...].prefix(Self.limit)
    var text: [UInt8] = []
    // An empty element, <key/>, has none.
    while bytes[end - 1] != UInt8(ascii: "/"), let byte = rest.first {
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
    // What is not UTF-8 is Latin-1, or will be refused.
    return String(validating: text, as: UTF8.self) ?? String(String.UnicodeScalarView(text.map { UnicodeScalar($0) }))
  }

  /// What `&…;` stands for; nil when it is nothing known.
  private static func scalar(_ rest: ArraySlice<UInt8>) -> UnicodeScalar? {
    let name = String(decoding: rest.dropFirst().prefix(10).prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
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
