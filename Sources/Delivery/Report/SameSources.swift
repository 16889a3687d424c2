/// Finds sources that many different requests gave: often a placeholder that a server sends instead of what is missing.
struct SameSources {
  /// More different requests than this with one source are not counted.
  static let requestLimit = 10_000

  /// More warnings are not given.
  static let warningLimit = 20

  private struct Group {
    let sha256: String
    /// The place of the first row.
    let index: Int
    var names: [String] = []
    /// Hash values of the different requests.
    var requests: Set<Int> = []
  }

  private let threshold: Int
  private var groups: [Group] = []
  private var places: [String: Int] = [:]

  /// - Parameter threshold: How many different requests with the same source are doubtful.
  init(threshold: Int) { self.threshold = threshold }

  /// Adds a row that has a result.
  /// - Parameters:
  ///   - index: Its place in the manifest.
  ///   - request: What tells its request from others.
  ///   - name: Called for the first rows of a source.
  mutating func add(_ sha256: String, index: Int, request: String, name: () throws -> String) rethrows {
    let place = places[sha256] ?? groups.count
    if place == groups.count {
      places[sha256] = place
      groups.append(Group(sha256: sha256, index: index))
    }
    guard groups[place].requests.count < Self.requestLimit else { return }
    guard groups[place].requests.insert(request.hashValue).inserted, groups[place].names.count < 3 else { return }
    groups[place].names.append(try name())
  }

  /// The sources that are doubtful, the most frequent first.
  var warnings: [ReportWarning] {
    groups.filter { $0.requests.count >= threshold }
      .sorted { ($1.requests.count, $0.index) < ($0.requests.count, $1.index) }
      .prefix(Self.warningLimit).map(Self.warning)
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
      place: "entries[\(group.index)]")
  }
}
