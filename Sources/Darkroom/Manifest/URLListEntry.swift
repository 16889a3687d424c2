import Imaging
import Transfer

/// A URL of a text manifest with the option lines that follow it, as in the input files of aria2.
struct URLListEntry {
  private static let options = ["out", "checksum", "header", "referer"]

  /// The URL, or its mirrors.
  private let urls: [String]
  private let line: Int
  private var name: String?
  private var checksum: Checksum?
  private var headers: [HeaderField] = []
  private var headerBytes = 0
  private var problems: [ManifestProblem] = []

  /// - Parameter content: A line without white space at its ends.
  init(_ content: Substring, line: Int) {
    urls = content.split(separator: "\t", omittingEmptySubsequences: false).map { String(Self.trimmed($0)) }
      .filter { !$0.isEmpty }
    self.line = line
  }

  /// The entry as the manifest's format yields it.
  var item: ManifestItem {
    if !problems.isEmpty { return .unreadable(problems) }
    var members: [JSONValue.Member] = []
    if let name { members.append(.init("name", .string(name))) }
    if let checksum { members.append(.init("checksum", .string(checksum.description))) }
    if !headers.isEmpty { members.append(.init("headers", .headers(headers))) }
    let url = urls.count > 1 ? JSONValue.array(urls.map(JSONValue.string)) : .string(urls.first ?? "")
    if members.isEmpty, urls.count < 2 { return .entry(url, key: nil, place: .line(line)) }
    members.insert(.init("url", url), at: 0)
    return .entry(.object(members), key: nil, place: .line(line))
  }

  /// Reads `NAME=VALUE`; white space around either is dropped, as aria2 does.
  mutating func readOption(_ content: Substring, line: Int) {
    guard let equals = content.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      return report(.syntax, "an indented line is an option: NAME=VALUE", at: .line(line))
    }
    let option = String(Self.trimmed(content[..<equals]))
    // What is no name is not shown: it may be a header without `header=`, with a secret.
    guard option.utf8.allSatisfy({ $0 < 0x80 && Unicode.Scalar($0).properties.isAlphabetic || $0 == 0x2d }) else {
      return report(.syntax, "an indented line is an option: NAME=VALUE, such as header=NAME: VALUE", at: .line(line))
    }
    let value = String(Self.trimmed(content[content.utf8.index(after: equals)...]))
    let place = ManifestProblem.Place.field(option, line: line)
    switch option {
    case "out" where name != nil: report(.badValue, "the URL has an option \"out\" already", at: place)
    case "out" where value.isEmpty: report(.badValue, "\"out\" needs a name", at: place)
    case "out": name = value
    case "checksum" where checksum != nil: report(.badValue, "the URL has an option \"checksum\" already", at: place)
    case "checksum": readChecksum(value, at: place)
    case "header": readHeader(at: place) { () throws(SourceRequest.ParseError) in try HeaderField(parsing: value) }
    case "referer" where value == "*":
      report(.badValue, "\"referer\" needs a URL; * is not available in this version", at: place)
    case "referer": readHeader(at: place) { () throws(SourceRequest.ParseError) in try HeaderField("Referer", value) }
    default: report(.unknownField, NearestName.unknown("option", option, among: Self.options), at: place)
    }
  }

  private mutating func readHeader(
    at place: ManifestProblem.Place, _ parse: () throws(SourceRequest.ParseError) -> HeaderField
  ) {
    do {
      let header = try parse()
      headerBytes += header.line.utf8.count
      // Whoever makes a request of them says that they are too many; more need not be kept for that.
      if headerBytes <= 2 * SourceRequest.maxHeaderBytes { headers.append(header) }
    } catch {
      report(.badValue, error.message, at: place)
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
