import JSON
import Model
import System

/// The page of a job while it is being written: the head of its report, and its rows in the order of the manifest.
///
/// A page has at most `limit` rows, and at most `byteLimit` bytes of rows. When there are more rows, failed ones take
/// precedence. Their number is known in advance, so that no rows are kept in memory.
package final class JobPage {
  /// The most rows on a page.
  package static let limit = 20_000

  /// The most bytes of rows on a page, since browsers cannot open pages of gigabytes.
  package static let byteLimit = 64 << 20

  /// The interval at which the page of a live job reloads itself, in seconds.
  static let refresh = 2

  /// An entry in progress: a tile until there is a row.
  package struct Operation: Sendable, Equatable {
    /// The largest original that is shown, in bytes.
    package static let mostBytes = 20 << 20

    private let json: JSONValue

    /// - Parameters:
    ///   - index: As in the entry's row, and so are `name`, `variant` and `filters`.
    ///   - state: `downloading`, `filtering`, or `downloaded` while it waits for its filtration.
    ///   - since: When the download or filtration began, as RFC 3339.
    ///   - original: The path of the source in the job's folder, if it is there.
    package init(
      index: Int, name: String, variant: String?, state: String, since: String, filters: String, original: String?
    ) {
      json = .object([
        "index": .integer(index), "name": .string(name), "variant": variant.map { .string($0) },
        "state": .string(state),
        "since": .string(since), "filters": .string(filters), "original": original.map { .string($0) },
      ])
    }

    fileprivate static func list(_ operations: [Operation]) -> JSONValue? {
      operations.isEmpty ? nil : .array(operations.map(\.json))
    }
  }

  /// The additional data of a live job's page.
  package struct Live: Sendable, Equatable {
    package let ended: Int
    package let total: Int

    /// A description of the pause; nil when entries may start.
    package var paused: String?

    /// Whether the program ends, so that the page is not written again.
    package var isLast = false

    /// The operations that run, those that began first.
    package var operations: [Operation] = []

    package init(ended: Int, total: Int, paused: String? = nil, isLast: Bool = false) {
      self.ended = ended
      self.total = total
      self.paused = paused
      self.isLast = isLast
    }

    fileprivate var json: JSONValue {
      .object([
        "ended": .integer(ended), "total": .integer(total), "paused": paused.map { .string($0) },
        "operations": Operation.list(operations),
      ])
    }
  }

  private let page: PageFile
  private var failedRoom: Int
  private var otherRoom: Int
  private var hasRows = false
  private var bytesLeft: Int

  /// The kinds of failures on the page.
  private var kinds: Set<FailureKind> = []

  /// - Parameters:
  ///   - file: An empty file.
  ///   - job: The job's name.
  ///   - head: The report's head, or the one that it would have now.
  ///   - live: nil for an ended job.
  ///   - interval: The longest time until a live page is written again, in seconds. Default: `heartbeat`.
  ///   - rejected: The head of the report of a manifest that was rejected later, and the path of the shown report,
  ///     relative to the job's folder. Default: nil.
  ///   - total: The number of rows.
  ///   - failed: The number of failed rows.
  package init(
    to file: OpenFile, job: String, head: ReportHead, live: Live? = nil,
    interval: Double = GalleryPages.heartbeat, rejected: (ReportHead, shown: String)? = nil, total: Int, failed: Int,
    limit: Int = JobPage.limit, byteLimit: Int = JobPage.byteLimit
  ) throws(SystemError) {
    page = PageFile(file, .job, title: job)
    bytesLeft = byteLimit
    (failedRoom, otherRoom) = (min(failed, limit), limit - min(failed, limit))
    var members: [JSONValue.Member] = [.init("page", .string("job")), .init("version", .integer(1))]
    members.append(.init("head", .object(head.members)))
    if let live {
      members += [.init("live", live.json), .init("written_at", .time(Clock.wallMilliseconds))]
      if !live.isLast {
        members.append(.init("refresh_s", .integer(Self.refresh)))
        members.append(.init("stale_after_s", .number(GalleryPages.staleAfter * interval)))
      }
    }
    if let (head, shown) = rejected {
      members += [.init("rejected", .object(head.members)), .init("report", .string(shown))]
    }
    members.append(.init("entries_total", .integer(total)))
    try page.append(JSONValue.object(members).text.dropLast() + #","entries":["#)
  }

  /// Appends a row, if there is room for it.
  /// - Parameter row: The row as in the report.
  package func add(_ row: String) throws(SystemError) {
    try row.utf8CString.withUnsafeBufferPointer { text throws(SystemError) in
      if let start = text.baseAddress { try add(start, text.count - 1) }
    }
  }

  /// Appends a row, if there is room for it.
  /// - Parameter text: The row as in the report, with a terminating zero.
  func add(_ text: UnsafePointer<CChar>, _ count: Int) throws(SystemError) {
    guard count > 1, bytesLeft >= count, takesRoom(text) else { return }
    bytesLeft -= count
    if hasRows { try page.append(",") }
    hasRows = true
    if ReportRow.isFailed(text), let kind = ReportRow.failureKind(text) { kinds.insert(kind) }
    let row = UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
    guard let original = ReportRow.original(text) else {
      return try page.append(UnsafeBufferPointer(start: row, count: count))
    }
    try page.append(#"{"original":""#)
    try page.append(original)
    try page.append(#"","#)
    try page.append(UnsafeBufferPointer(start: row + 1, count: count - 1))
  }

  private func takesRoom(_ row: UnsafePointer<CChar>) -> Bool {
    // Failed rows have their own count only on a page that leaves rows out.
    if failedRoom > 0, ReportRow.isFailed(row) {
      failedRoom -= 1
      return true
    }
    guard otherRoom > 0 else { return false }
    otherRoom -= 1
    return true
  }

  package func end() throws(SystemError) {
    let remedies = kinds.map { JSONValue.Member($0.text, .string($0.remedy)) }.sorted { $0.key < $1.key }
    try page.append("]," + JSONValue.object([.init("remedies", .object(remedies))]).text.dropFirst())
    try page.end()
  }
}
