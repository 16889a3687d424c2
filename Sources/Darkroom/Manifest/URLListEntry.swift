import Imaging
import Transfer

/// A URL of a text manifest with the option lines that follow it, as in the input files of aria2.
struct URLListEntry {
  private static let laterOptions: Set = ["header", "referer"]
  private static let options = ["out", "checksum", "header", "referer"]

  private let url: String
  private let line: Int
  private var name: String?
  private var checksum: Checksum?
  private var problems: [ManifestProblem] = []

  /// - Parameter content: A line without white space at its ends.
  init(_ content: Substring, line: Int) {
    url = String(content)
    self.line = line
    if content.utf8.contains(UInt8(ascii: "\t")) {
      report(.badValue, "mirrors separated by tabs are not available in this version", at: .line(line))
    }
  }

  /// The entry as the manifest's format yields it.
  var item: ManifestItem {
    if !problems.isEmpty { return .unreadable(problems) }
    var members: [JSONValue.Member] = []
    if let name { members.append(.init("name", .string(name))) }
    if let checksum { members.append(.init("checksum", .string(checksum.description))) }
    if members.isEmpty { return .entry(.string(url), key: nil, place: .line(line)) }
    members.insert(.init("url", .string(url)), at: 0)
    return .entry(.object(members), key: nil, place: .line(line))
  }

  /// Reads `NAME=VALUE`; white space around either is dropped, as aria2 does.
  mutating func readOption(_ content: Substring, line: Int) {
    guard let equals = content.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      return report(.syntax, "an indented line is an option: NAME=VALUE", at: .line(line))
    }
    let option = String(Self.trimmed(content[..<equals]))
    let value = String(Self.trimmed(content[content.utf8.index(after: equals)...]))
    let place = ManifestProblem.Place.field(option, line: line)
    switch option {
    case "out" where name != nil: report(.badValue, "the URL has an option \"out\" already", at: place)
    case "out" where value.isEmpty: report(.badValue, "\"out\" needs a name", at: place)
    case "out": name = value
    case "checksum" where checksum != nil: report(.badValue, "the URL has an option \"checksum\" already", at: place)
    case "checksum": readChecksum(value, at: place)
    case _ where Self.laterOptions.contains(option):
      report(.unknownField, "the option \"\(option)\" is not available in this version", at: place)
    default: report(.unknownField, NearestName.unknown("option", option, among: Self.options), at: place)
    }
  }

  private mutating func readChecksum(_ text: String, at place: ManifestProblem.Place) {
    do {
      checksum = try Checksum(parsing: text)
    } catch {
      report(.badValue, error.message, at: place)
    }
  }

  /// Without the spaces and tabs at both ends.
  static func trimmed(_ text: Substring) -> Substring {
    let scalars = text.unicodeScalars
    let begun = scalars.drop { $0 == " " || $0 == "\t" }
    guard let last = begun.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return Substring(begun[...last])
  }

  /// Takes down what is wrong with it.
  mutating func report(_ problem: ManifestProblem) {
    // More are not reported, and an entry may have any number of lines.
    if problems.count < Planner.problemLimit { problems.append(problem) }
  }

  private mutating func report(_ code: ManifestProblem.Code, _ message: String, at place: ManifestProblem.Place) {
    report(ManifestProblem(code, message, at: place))
  }
}
