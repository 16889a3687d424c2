import Foundation
import JSON
import Model
import System

/// An ended job on the outbox's page.
package struct EndedJob: Sendable {
  let name: String
  let runID: String

  /// When it ended: RFC 3339, UTC, with milliseconds.
  let finished: String

  /// Its report's path, relative to the outbox.
  let report: String

  /// The job as it is on the page.
  let json: String

  /// The key by which a newer job replaces an older one. The last run of a job, and the last manifest that was rejected
  /// while a run of the job was live, have different keys.
  var key: ByteKey { ByteKey(report == Self.report(of: name) ? name : name + "/") }

  fileprivate static func report(of name: String) -> String { name + "/report.json" }

  /// - Parameters:
  ///   - head: The head of its report.
  ///   - report: The report's path, relative to the outbox. Default: that of the job's last run.
  ///   - hasPage: Whether the job has a page.
  /// - Returns: nil for an incomplete report.
  package init?(_ name: String, _ head: ReportHead, report: String? = nil, hasPage: Bool) {
    guard let state = head.state, let runID = head.runID else { return nil }
    (self.name, self.runID, finished) = (name, runID, head.finished ?? "")
    self.report = report ?? Self.report(of: name)
    let json = JSONValue.object(head.members)
    var problems: [OutboxPage.Problem] = []
    if case .array(let errors)? = json["errors"] {
      problems = errors.compactMap { error in
        guard let code = error["code"]?.string else { return nil }
        return .init(code: code, message: error["message"]?.string ?? "", location: error["where"]?.string)
      }
    }
    let warnings = if case .array(let warnings)? = json["warnings"] { warnings.count } else { 0 }
    let counts = head.counts
    let job = OutboxPage.Job(
      name: name, runID: runID, state: state.rawValue, started: json["started_at"]?.string, finished: head.finished,
      counts: counts, ended: counts?.total, total: counts?.total, failed: counts?.failed, warnings: warnings,
      page: hasPage ? name + "/" + ExistingPage.name : nil, report: self.report, problems: problems)
    self.json = job.json.text
  }

  /// A job of an earlier page.
  /// - Returns: nil for one that had not ended.
  init?(_ json: JSONValue) {
    guard let name = json["name"]?.string, let runID = json["run_id"]?.string,
      let finished = json["finished_at"]?.string, let report = (json["report"]?.string)?.removingPercentEncoding
    else { return nil }
    (self.name, self.runID, self.finished, self.report) = (name, runID, finished, report)
    self.json = json.text
  }
}

/// A run that has just ended.
package struct EndedRun: Sendable {
  package let name: String
  package let runID: String

  /// Whether its report went to `history`.
  package let isInHistory: Bool

  /// The head of its report; nil when it must be read.
  let head: ReportHead?

  /// The report's path, relative to the outbox.
  var report: String { isInHistory ? "\(name)/history/\(runID)/report.json" : EndedJob.report(of: name) }

  package init(name: String, runID: String, isInHistory: Bool, head: ReportHead? = nil) {
    self.name = name
    self.runID = runID
    self.isInHistory = isInHistory
    self.head = head
  }
}
