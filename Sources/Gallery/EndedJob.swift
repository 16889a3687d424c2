import Foundation
import JSON
import Model

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
  var key: String { report == Self.report(of: name) ? name : name + "/" }

  private static func report(of name: String) -> String { name + "/report.json" }

  private init(_ job: OutboxPage.Job, report: String) {
    (name, runID, finished) = (job.name, job.runID, job.finished ?? "")
    self.report = report
    var job = job
    job.report = report
    json = job.json.text
  }

  /// - Parameter hasPage: Whether the job has a page.
  init(_ run: EndedRun, hasPage: Bool) {
    let counts = run.outcome.counts
    self.init(
      OutboxPage.Job(
        name: run.name, runID: run.runID, state: run.outcome.state.rawValue,
        started: JSONValue.time(run.started).string,
        finished: JSONValue.time(run.outcome.finished(since: run.started)).string,
        counts: counts, ended: counts.total, total: counts.total, failed: counts.failed,
        page: hasPage ? run.name + "/" + ExistingPage.name : nil,
        problems: run.outcome.problems.map { .init(code: $0.code, message: $0.message, location: $0.location) }),
      report: run.isInHistory ? "\(run.name)/history/\(run.runID)/report.json" : Self.report(of: run.name))
  }

  /// A job whose report was read.
  /// - Returns: nil for an incomplete report.
  package init?(_ name: String, _ head: ReportHead, hasPage: Bool) {
    guard let state = head.state, let runID = head.runID else { return nil }
    let json = JSONValue.object(head.members)
    var problems: [OutboxPage.Problem] = []
    if case .array(let errors)? = json["errors"] {
      problems = errors.compactMap { error in
        guard let code = error["code"]?.string else { return nil }
        return .init(code: code, message: error["message"]?.string ?? "", location: error["where"]?.string)
      }
    }
    self.init(
      OutboxPage.Job(
        name: name, runID: runID, state: state.rawValue, started: json["started_at"]?.string, finished: head.finished,
        counts: head.counts, ended: head.counts?.total, total: head.counts?.total, failed: head.counts?.failed,
        page: hasPage ? name + "/" + ExistingPage.name : nil, problems: problems),
      report: Self.report(of: name))
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
  package let outcome: JobOutcome

  /// In milliseconds since 1970.
  package let started: Int

  /// Whether its report went to `history`.
  package let isInHistory: Bool

  package init(name: String, runID: String, outcome: JobOutcome, started: Int, isInHistory: Bool) {
    self.name = name
    self.runID = runID
    self.outcome = outcome
    self.started = started
    self.isInHistory = isInHistory
  }
}
