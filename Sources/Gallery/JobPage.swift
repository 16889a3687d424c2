import Glibc
import JSON
import Model
import System

/// The page of a job while it is written: the head of its report, and its rows in the order of the manifest.
///
/// A page has `limit` rows at most, and less when they are large: those that failed come first when some are left out. How many there are is known before
/// the first comes, so that no row is kept in memory.
package final class JobPage {
  /// So many rows are on a page at most.
  static let limit = 20_000

  /// Rows of so many bytes are on it at most: no browser opens pages of gigabytes.
  static let byteLimit = 64 << 20

  /// How often a page of a live job asks whether there is a newer one, in seconds.
  static let refresh = 2

  /// What the page of a live job says besides.
  package struct Live: Sendable, Equatable {
    package let ended: Int
    package let total: Int

    /// Why nothing starts, in words; nil while entries may start.
    package var paused: String?

    /// Whether the program has ended, so that nobody writes the page again.
    package var isLast = false

    package init(ended: Int, total: Int, paused: String? = nil, isLast: Bool = false) {
      self.ended = ended
      self.total = total
      self.paused = paused
      self.isLast = isLast
    }

    fileprivate var json: JSONValue {
      .object([
        "ended": .integer(ended), "total": .integer(total), "paused": paused.map { .string($0) },
      ])
    }
  }

  private let page: PageFile
  private var failedRoom: Int
  private var otherRoom: Int
  private var hasRows = false
  private var bytesLeft: Int

  /// - Parameters:
  ///   - file: An empty one.
  ///   - job: The job's name.
  ///   - head: The report's, or what would be in it now.
  ///   - live: nil for a job that has ended.
  ///   - total: How many rows there are.
  ///   - failed: How many of them failed.
  init(
    to file: OpenFile, job: String, head: ReportHead, live: Live? = nil, total: Int, failed: Int,
    limit: Int = JobPage.limit, byteLimit: Int = JobPage.byteLimit
  ) throws(SystemError) {
    page = PageFile(file, .job, title: job)
    bytesLeft = byteLimit
    (failedRoom, otherRoom) = (min(failed, limit), limit - min(failed, limit))
    var members: [JSONValue.Member] = [.init("page", .string("job")), .init("version", .integer(1))]
    if let live, !live.isLast { members.append(.init("refresh_s", .integer(Self.refresh))) }
    members.append(.init("head", .object(head.members)))
    if let live { members.append(.init("live", live.json)) }
    members.append(.init("entries_total", .integer(total)))
    try page.append(JSONValue.object(members).text.dropLast() + #","entries":["#)
  }

  /// Appends a row, if there is room for it.
  /// - Parameter row: As the report has it.
  func add(_ row: String) throws(SystemError) {
    try row.utf8CString.withUnsafeBufferPointer { text throws(SystemError) in
      if let start = text.baseAddress { try add(start, text.count - 1) }
    }
  }

  /// The same.
  /// - Parameter text: Ends with a zero.
  func add(_ text: UnsafePointer<CChar>, _ count: Int) throws(SystemError) {
    guard count > 1, bytesLeft >= count, takesPlace(text) else { return }
    bytesLeft -= count
    if hasRows { try page.append(",") }
    hasRows = true
    let row = UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self)
    guard let original = ReportRow.original(text) else {
      return try page.append(UnsafeBufferPointer(start: row, count: count))
    }
    try page.append(#"{"original":""#)
    try page.append(original)
    try page.append(#"","#)
    try page.append(UnsafeBufferPointer(start: row + 1, count: count - 1))
  }

  private func takesPlace(_ row: UnsafePointer<CChar>) -> Bool {
    // Only a page that is cut has to know.
    if failedRoom > 0, ReportRow.isFailed(row) {
      failedRoom -= 1
      return true
    }
    guard otherRoom > 0 else { return false }
    otherRoom -= 1
    return true
  }

  func end() throws(SystemError) {
    try page.append("]}")
    try page.end()
  }
}
