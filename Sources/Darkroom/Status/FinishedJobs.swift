import Gallery
import Model
import System

/// The jobs with a report in the outbox.
struct FinishedJobs {
  let outbox: String

  /// The `limit` jobs that ended last, the latest first, and their total number. Unreadable reports are left out, as far as they are
  /// among the last.
  func latest(_ limit: Int) -> (jobs: [Status.Finished], total: Int) {
    let (heads, total) = heads(limit)
    let jobs = heads.compactMap { finished($0.job, $0.head) }
    return (jobs, total - (min(limit, total) - jobs.count))
  }

  /// The jobs that ended last, for the gallery, and whether there are more.
  func latestEnded(_ limit: Int) -> (jobs: [EndedJob], hasOlder: Bool) {
    let (heads, total) = heads(limit)
    let folder = try? OpenFolder(outbox)
    let jobs = heads.compactMap { job, head in
      let page = folder.flatMap { try? ExistingPage(in: $0, job + "/" + ExistingPage.name) }
      return EndedJob(job, head, hasPage: page == .ours)
    }
    return (jobs, total > limit)
  }

  /// The heads of the latest reports.
  private func heads(_ limit: Int) -> (heads: [(job: String, head: ReportHead)], total: Int) {
    guard let folder = try? OpenFolder(outbox), let names = try? folder.names() else { return ([], 0) }
    let reports = names.compactMap { name -> (job: String, modified: FileIdentity.Time)? in
      // Names of jobs do not begin with a dot.
      guard name.bytes.first != UInt8(ascii: "."), let job = name.text, let found = try? folder.folder(job),
        let status = try? found.status(of: "report.json"), status.kind == .file
      else { return nil }
      return (job, status.identity.modified)
    }
    let latest = reports.sorted { ($0.modified, $1.job) > ($1.modified, $0.job) }.prefix(limit)
    let heads = latest.compactMap { report in
      (try? folder.open(reading: report.job + "/report.json")).flatMap { try? ReportHead(of: $0) }
        .map { (report.job, $0) }
    }
    return (heads, reports.count)
  }

  private func finished(_ job: String, _ head: ReportHead) -> Status.Finished? {
    guard let state = head.state else { return nil }
    return Status.Finished(
      job: job, run_id: head.runID, state: state.rawValue, finished_at: head.finished, total: head.counts?.total,
      filtered: head.counts?.filtered, failed: head.counts?.failed, cancelled: head.counts?.cancelled,
      report: OutboxFolder(path: outbox).job(job).report)
  }
}
