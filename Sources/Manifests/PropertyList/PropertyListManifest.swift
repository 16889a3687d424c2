import Foundation
import JSON
import System

/// A property list, XML or binary, with the same shapes as `JSONManifest`. Dictionaries are read in key order.
struct PropertyListManifest: ManifestFormat {
  let name = "plist"
  let extensions = ["plist"]
  let summary = "a property list, XML or binary, in the shapes of JSON; dictionaries are read in the order of keys"

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    let data = try file.whole()
    guard !data.isEmpty else { throw ManifestProblem(.syntax, "the file is empty", at: .file) }
    if data.starts(with: BinaryPropertyList.magic) {
      let list = try BinaryPropertyList(data).read()
      if let problems = EntryProblems(list.duplicates) { try yield(.unreadable(problems)) }
      return try ManifestTree(list.value, fields).read(yield)
    }
    let duplicates = try XMLPropertyListBounds(data).check()
    if let problems = EntryProblems(duplicates) { try yield(.unreadable(problems)) }
    var format = PropertyListSerialization.PropertyListFormat.xml
    let list: Any
    do {
      list = try PropertyListSerialization.propertyList(from: data, format: &format)
    } catch {
      throw Self.problem(for: error, in: data)
    }
    guard format != .openStep else {
      throw ManifestProblem(.syntax, "a property list must be XML or binary, not the old text format", at: .file)
    }
    try ManifestTree(convert(list, at: []), fields).read(yield)
  }

  /// The error of Foundation, whose description usually ends in ` on line 4` or ` at line 4`. What it says of a file that was cut off
  /// depends on where.
  private static func problem(for error: any Error, in data: Data) -> ManifestProblem {
    let text = (error as NSError).userInfo["NSDebugDescription"] as? String ?? "this is not a property list"
    func says(_ words: String...) -> Bool { words.contains { text.contains($0) } }
    let content = data.prefix(data.lastIndex { $0 > UInt8(ascii: " ") }.map { $0 + 1 } ?? 0)
    let lastLine = content.count { $0 == UInt8(ascii: "\n") } + 1
    func has(_ text: String) -> Bool { content.range(of: Data(text.utf8)) != nil }
    let isOpen =
      content.last != UInt8(ascii: ">") || says("No XML content", "Unterminated")
      || has("<plist") && (says("Value missing") || says("empty plist") && !has("/>"))
    let isCutOff = content.first == UInt8(ascii: "<") && !has("</plist") && isOpen
    if isCutOff || says("unexpected EOF") {
      return ManifestProblem(.syntax, "the file ends before its last element does", at: .line(lastLine))
    }
    if says("empty plist") { return ManifestProblem(.syntax, "the property list is empty", at: .file) }
    let hint = says("ampersand-escape") ? "; write & as &amp;" : ""
    guard let match = text.wholeMatch(of: /(.+) (?:on|at) line ([0-9]+)/.dotMatchesNewlines()), let line = Int(match.2)
    else { return ManifestProblem(.syntax, withoutSecret(text), at: .file) }
    return ManifestProblem(.syntax, withoutSecret(match.1) + hint, at: .line(line))
  }

  /// Foundation's text without a tag that is no word: a `>` may be missing before a value, which may be a secret.
  private static func withoutSecret(_ text: some StringProtocol) -> String {
    let tag = text.split(separator: "unknown tag ", maxSplits: 1).last ?? ""
    return tag.count == text.count || tag.allSatisfy(\.isLetter) ? String(text) : "Encountered an unknown tag"
  }

  private func convert(_ value: Any, at path: [String]) throws(ManifestProblem) -> JSONValue {
    switch value {
    case let text as String:
      if text.hasTooManyMarks { throw .tooManyMarks(at: .keyPath(path)) }
      return .string(text)
    case let number as NSNumber: return try convert(number, at: path)
    case let list as [Any]:
      var values: [JSONValue] = []
      for (position, element) in list.enumerated() { values.append(try convert(element, at: path + ["[\(position)]"])) }
      return .array(values)
    case let dictionary as [String: Any]:
      var members: [JSONValue.Member] = []
      for (key, element) in dictionary.sorted(by: { $0.key < $1.key }) {
        members.append(JSONValue.Member(key, try convert(element, at: path + [key])))
      }
      return .object(members)
    default:
      throw .propertyListOnly(at: path)
    }
  }

  /// Foundation shows the type of a number by its Objective-C type: `c` for a boolean, `d` or `f` for a real.
  private func convert(_ number: NSNumber, at path: [String]) throws(ManifestProblem) -> JSONValue {
    switch number.objCType.pointee {
    case CChar(UInt8(ascii: "c")): return .bool(number.boolValue)
    case CChar(UInt8(ascii: "d")), CChar(UInt8(ascii: "f")): return try .real(number.doubleValue, at: path)
    default:
      guard let value = Int(exactly: number) else { throw .numberTooLarge(at: path) }
      return .integer(value)
    }
  }
}

/// The problems of property lists of either kind.
extension ManifestProblem {
  static func propertyListTooDeep(at location: Location) -> ManifestProblem {
    ManifestProblem(.tooDeep, "the depth limit is \(JSONDocument.depthLimit) arrays and dictionaries", at: location)
  }

  /// A key that occurs twice in its dictionary.
  /// - Parameter first: The line of the first; nil when the location covers both.
  static func duplicateKey(_ key: String, first: Int? = nil, at location: Location) -> ManifestProblem {
    let other = first.map { "; the first time in line \($0)" } ?? ""
    return ManifestProblem(.syntax, "the key \"\(key)\" occurs twice in its dictionary\(other)", at: location)
  }

  /// A text that would take too long to compare.
  static func tooManyMarks(at location: Location) -> ManifestProblem {
    ManifestProblem(.badValue, String.tooManyMarksMessage, at: location)
  }

  /// An integer that would have to be rounded.
  static func numberTooLarge(at path: [String]) -> ManifestProblem {
    ManifestProblem(
      .badValue, "whole numbers go from \(Int.min) to \(Int.max); write a larger one as a string", at: .keyPath(path))
  }

  /// A value that only property lists have.
  static func propertyListOnly(at path: [String]) -> ManifestProblem {
    ManifestProblem(
      .wrongType, "dates and data have no meaning in a manifest", at: path.isEmpty ? .file : .keyPath(path))
  }
}

extension JSONValue {
  /// A real number of a property list.
  /// - Throws: `ManifestProblem` with code `bad-value` for one that JSON, and so the report, cannot express.
  static func real(_ value: Double, at path: [String]) throws(ManifestProblem) -> JSONValue {
    guard value.isFinite else {
      throw ManifestProblem(.badValue, "\(value) is no number in a manifest", at: .keyPath(path))
    }
    return .number(value)
  }
}
