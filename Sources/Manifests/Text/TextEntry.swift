import JSON
import System

/// An entry of a text manifest with the option lines that follow it, as in the input files of aria2.
struct TextEntry {
  private let fields: FieldVocabulary

  /// The principal field's value, or its alternatives.
  private let alternatives: [String]
  private let line: Int
  private var values: [String: JSONValue] = [:]

  /// Members of fields to which each line adds some.
  private var members: [String: [JSONValue.Member]] = [:]

  /// The bytes of `members`, including dropped ones.
  private var memberBytes = 0
  private var problems: [ManifestProblem] = []

  /// - Parameter content: A line without white space at its ends.
  init(_ content: Substring, line: Int, _ fields: FieldVocabulary) {
    // Most lines are one address. Splitting a text looks at its characters, which takes as long as the rest of the planning.
    let isOneWord = !content.utf8.contains { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
    alternatives =
      isOneWord
      ? (content.isEmpty ? [] : [String(content)])
      : content.split(separator: "\t").map(\.trimmingBlanks).flatMap(Self.webAddresses).map(String.init)
        .filter { !$0.isEmpty }
    self.line = line
    self.fields = fields
    // The sign would become part of the first one's name, and the others its mirrors.
    if let sign = alternatives.dropLast().lazy.compactMap(\.last).first(where: { $0 == "," || $0 == ";" }) {
      let message =
        "a \(fields.principalTitle) ends with \"\(sign)\": write each on a line of its own; only blanks separate mirrors"
      problems.append(ManifestProblem(.syntax, message, at: .line(line)))
    }
  }

  /// The entry as an item of the manifest.
  var item: ManifestItem {
    if let problems = EntryProblems(problems) { return .unreadable(problems) }
    let principal: JSONValue =
      alternatives.count > 1 ? .array(alternatives.map(JSONValue.string)) : .string(alternatives.first ?? "")
    if values.isEmpty, members.isEmpty, alternatives.count < 2 {
      return .entry(principal, key: nil, location: .line(line))
    }
    var object = [JSONValue.Member(fields.principal, principal)]
    for field in fields.options.map(\.field) where !object.contains(where: { $0.key == field }) {
      let value = values[field] ?? members[field].map { .object(grouping: $0) }
      if let value { object.append(.init(field, value)) }
    }
    return .entry(.object(object), key: nil, location: .line(line))
  }

  /// The text between two tabs: one alternative, or web addresses separated by spaces, as in the example of aria2's manual. A
  /// single alternative may contain spaces, too.
  private static func webAddresses(_ text: Substring) -> [Substring] {
    let words = text.split(separator: " ")
    return words.allSatisfy(isWebAddress) ? words : [text]
  }

  private static func isWebAddress(_ word: Substring) -> Bool {
    ["http://", "https://"].contains { word.prefix($0.count).lowercased() == $0 }
  }

  /// Reads `NAME=VALUE`; white space around either is removed, as in aria2.
  /// - Parameter ignored: Collects options of aria2 that are not supported.
  mutating func readOption(_ content: Substring, line: Int, _ ignored: inout IgnoredOptions) {
    let equals = content.utf8.firstIndex(of: UInt8(ascii: "="))
    let name = String(content[..<(equals ?? content.endIndex)].trimmingBlanks)
    if IgnoredOptions.all.contains(name) {
      return ignored.add(name, value: equals.map { content[$0...] } ?? "", line: line)
    }
    if Self.isWebAddress(content) {
      return report(
        .syntax, "remove the blanks before the \(fields.principalTitle): an indented line is an option", at: .line(line)
      )
    }
    guard let equals else { return report(.syntax, "an indented line is an option: NAME=VALUE", at: .line(line)) }
    // An invalid name is not shown: it may be a header without `header=`, with a secret.
    guard name.utf8.allSatisfy({ $0 < 0x80 && Unicode.Scalar($0).properties.isAlphabetic || $0 == 0x2d }) else {
      return report(.syntax, "an indented line is an option: NAME=VALUE, such as header=NAME: VALUE", at: .line(line))
    }
    let location = ManifestProblem.Location.field(name, line: line)
    guard let option = fields.options.first(where: { $0.name == name }) else {
      let known = fields.options.map(\.name)
      return report(.unknownField, NearestName.unknown("option", name, among: known), at: location)
    }
    if option.memberLimit == nil, values[option.field] != nil {
      return report(
        .badValue, "the \(fields.principalTitle) has an option \"\(name)\" already", at: location)
    }
    do {
      let value = try option.read(String(content[content.utf8.index(after: equals)...].trimmingBlanks))
      if let limit = option.memberLimit { add(value, to: option.field, limit) } else { values[option.field] = value }
    } catch {
      report(.badValue, error.message, at: location)
    }
  }

  private mutating func add(_ value: JSONValue, to field: String, _ limit: Int) {
    guard case .object(let added) = value else { return }
    for member in added {
      memberBytes += member.key.utf8.count + (member.value.string?.utf8.count ?? 0)
      if memberBytes <= limit { members[field, default: []].append(member) }
    }
  }

  mutating func report(_ problem: ManifestProblem) {
    // No more are reported, and an entry may have any number of lines.
    if problems.count < ManifestProblem.reportLimit { problems.append(problem) }
  }

  private mutating func report(_ code: ManifestProblem.Code, _ message: String, at location: ManifestProblem.Location) {
    report(ManifestProblem(code, message, at: location))
  }
}
