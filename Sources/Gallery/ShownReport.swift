import Model
import System

/// The report whose rows a job's page shows. A rejected manifest does not hide the pictures of the job: its page shows
/// the last accepted run, and why the manifest was rejected.
struct ShownReport {
  let file: OpenFile
  let head: ReportHead

  /// Relative to the job's folder.
  var path = "report.json"

  /// The head of the job's report, if the shown one is an earlier one from `history`.
  var rejected: ReportHead?

  init(_ file: OpenFile, _ head: ReportHead) {
    self.file = file
    self.head = head
  }

  /// The newest report in `history` of a run that was neither rejected nor superseded.
  /// - Parameter newest: The head of the job's report.
  /// - Returns: nil when the newest run was not rejected, or there is no such report.
  init?(before newest: ReportHead, in job: OpenFolder) {
    guard newest.state == .rejected, let history = try? job.folder("history"),
      let good = ReportHead.lastGood(in: history)
    else { return nil }
    self.init(good.file, good.head)
    (path, rejected) = ("history/\(good.run)/report.json", newest)
  }
}

extension JobPage {
  /// A page with the rows of a report.
  convenience init(to file: OpenFile, job: String, showing report: ShownReport) throws(SystemError) {
    var rows = RowOffsets()
    _ = try rows.update(from: report.file)
    try self.init(
      to: file, job: job, head: report.head, rejected: report.rejected.map { ($0, shown: report.path) },
      total: rows.counts.total, failed: rows.counts.failed)
    try rows.each(of: report.file) { (row, count) throws(SystemError) in try add(row, count) }
  }
}
