import JSON
import Manifests

/// URLs.
extension EntryReader {
  /// The most URLs that an entry may have.
  static let mirrorLimit = 64

  /// The URL, or the mirrors in their order; empty when there is a problem.
  mutating func urls(_ value: JSONValue?, at location: ManifestProblem.Location) -> [String] {
    switch value {
    case .string(let url): return [Self.trimmed(url)]
    case .array([]): report(.badValue, "an array of mirrors needs a URL", at: location.field("url"))
    case .array(let values):
      if let other = values.firstIndex(where: { $0.string == nil }) {
        let message = "mirrors must be strings; number \(other + 1) is \(values[other].kind)"
        report(.wrongType, message, at: location.field("url"))
      } else if values.count > Self.mirrorLimit {
        let message = "an entry may have \(Self.mirrorLimit) mirrors; this one has \(values.count)"
        report(.badValue, message, at: location.field("url"))
      } else {
        return values.compactMap { $0.string.map(Self.trimmed) }
      }
    case nil: report(.badValue, "an entry needs a \"url\"", at: location)
    case let value?:
      let message = "\"url\" must be a string or an array of strings, not \(value.kind)"
      report(.wrongType, message, at: location.field("url"))
    }
    return []
  }

  /// A web URL without white space and invisible characters at its ends, which come with a text that is copied from a page.
  private static func withoutInvisible(_ url: String) -> String {
    let isKept = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace && !invisible.contains(scalar) }
    let begun = url.unicodeScalars.drop { !isKept($0) }
    guard let end = begun.lastIndex(where: isKept), String(begun.prefix(4)).lowercased() == "http" else { return url }
    return String(begun[...end])
  }

  /// Zero-width space, marks of direction, word joiner, byte-order mark.
  private static let invisible: Set<Unicode.Scalar> = ["\u{200b}", "\u{200e}", "\u{200f}", "\u{2060}", "\u{feff}"]

  /// A URL without ASCII white space at its ends, as browsers read it (WHATWG URL): a space before the scheme must not
  /// make it a path. Other control characters are kept and fail the entry, since NUL bytes indicate a damaged file.
  static func trimmed(_ given: String) -> String {
    guard let first = given.utf8.first, let last = given.utf8.last else { return given }
    let url = first >= 0x80 || last >= 0x80 ? withoutInvisible(given) : given
    guard first <= 0x20 || last <= 0x20 else { return url }
    let bytes = url.utf8
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0d).contains($0) && $0 != 0x0b }
    let begun = bytes.drop(while: isBlank)
    let end = begun.lastIndex { !isBlank($0) }.map(begun.index(after:)) ?? begun.startIndex
    return String(begun[..<end]) ?? url
  }
}
