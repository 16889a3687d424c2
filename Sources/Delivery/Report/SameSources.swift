import Model
import System

/// Finds sources that many different requests returned. Often these are placeholders for missing pictures.
package struct SameSources {
  /// The most requests that are counted for one source.
  static let requestLimit = 10_000

  /// The most warnings.
  static let warningLimit = 20

  private struct Group {
    let sha256: String
    /// The position of the first row.
    let index: Int
    var names: [String] = []
    /// The hash values of the different requests.
    var requests: Set<Int> = []
  }

  private let threshold: Int
  private var groups: [Group] = []
  private var groupIndices: [String: Int] = [:]

  /// - Parameter threshold: The number of different requests for one source from which on there is a warning.
  init(threshold: Int) { self.threshold = threshold }

  /// Adds a row with a result.
  /// - Parameters:
  ///   - index: The position of the row.
  ///   - request: Identifies the request.
  ///   - name: Returns the name of the row. Called for the first rows of a source.
  mutating func add(_ sha256: String, index: Int, request: String, name: () throws -> String) rethrows {
    let group = groupIndices[sha256] ?? groups.count
    if group == groups.count {
      groupIndices[sha256] = group
      groups.append(Group(sha256: sha256, index: index))
    }
    guard groups[group].requests.count < Self.requestLimit else { return }
    guard groups[group].requests.insert(request.hashValue).inserted, groups[group].names.count < 3 else { return }
    groups[group].names.append(try name())
  }

  /// The warnings, the most frequent source first.
  var warnings: [ReportWarning] {
    groups.filter { $0.requests.count >= threshold }
      .sorted { ($1.requests.count, $0.index) < ($0.requests.count, $1.index) }
      .prefix(Self.warningLimit).map(Self.warning)
  }

  /// The warnings about a merged report. The rows show no cache keys and secrets of requests: of equal ones those that were not sent do
  /// not count, and URLs that differ only in secrets count once.
  /// - Parameters:
  ///   - rows: A log of all rows.
  ///   - counts: The counts of their sources. The rows are read only if one may be frequent enough.
  /// - Throws: `SystemError`.
  package static func warnings(in rows: OpenFile, _ counts: SourceCounts) throws -> [ReportWarning] {
    guard counts.isAnyFrequent else { return [] }
    var (same, index) = (SameSources(threshold: counts.threshold), 0)
    try ReportRow.eachLine(of: rows) { text in
      defer { index += 1 }
      guard !ReportRow.isCoalesced(text), let sha256 = ReportRow.sourceSHA256(ofFiltered: text),
        counts.isFrequent(sha256), let url = ReportRow.url(text)
      else { return }
      try same.add(sha256, index: index, request: url) { try ReportRow(parsing: text).name }
    }
    return same.warnings
  }

  private static func warning(_ group: Group) -> ReportWarning {
    let count = group.requests.count
    let shown = group.names.map { "\"\($0)\"" }.joined(separator: ", ")
    return ReportWarning(
      code: .sameSource,
      message: """
        \(count >= requestLimit ? "at least " : "")\(count) different URLs gave the same bytes (SHA-256 \
        \(group.sha256.prefix(12))…), perhaps a placeholder: \(shown) and \(count - group.names.count) more
        """,
      location: "entries[\(group.index)]")
  }
}
