import JSON
import Model

/// The body of a notification: the head of a report, and its first failed rows. `Documentation/notification.schema.json`
/// describes it.
struct NotificationBody {
  /// The most failed rows that it contains.
  static let maxFailures = 100

  /// The bytes of JSON beyond which no more rows are added, since URLs may be long.
  static let maxFailureBytes = 256 << 10

  private let head: [JSONValue.Member]

  /// The number of rows that have failed.
  private let total: Int
  private var failures: [JSONValue] = []
  private var bytes = 0

  init(run: RunContext, head: ReportHead, failed: Int) {
    let id = JSONValue.Member("id", .string(run.runID))
    let isVersion = { (member: JSONValue.Member) in member.key == "schema_version" }
    self.head = head.members.filter(isVersion) + [id] + head.members.filter { !isVersion($0) }
    total = failed
  }

  /// Adds a row of the report, if it has failed.
  /// - Throws: `JSONError`.
  mutating func add(_ row: String) throws {
    guard failures.count < min(total, Self.maxFailures), bytes < Self.maxFailureBytes,
      row.withCString(ReportRow.isFailed), case .object(let members) = try JSONValue(parsing: row)
    else { return }
    let failure = JSONValue.object(members.filter { ["name", "variant", "url", "error"].contains($0.key) })
    failures.append(failure)
    bytes += failure.text.utf8.count
  }

  var text: String {
    JSONValue.object(head + [.init("failures", .array(failures)), .init("failures_total", .integer(total))]).text
  }
}
