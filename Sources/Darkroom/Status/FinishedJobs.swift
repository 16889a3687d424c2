import System

/// The jobs whose reports are in the outbox.
struct FinishedJobs {
  /// The outbox's path.
  let outbox: String

  /// Those that ended last, the latest first, and how many there are. What cannot be read is left out.
  func latest(_ limit: Int) -> (jobs: [Status.Finished], total: Int) {
    guard let folder = try? OpenFolder(outbox), let names = try? folder.names() else { return ([], 0) }
    let reports = names.compactMap { name -> (job: String, modified: FileIdentity.Time)? in
      // A name that begins with a dot is no job's.
      guard name.bytes.first != UInt8(ascii: "."), let job = name.text, let found = try? folder.folder(job),
        let status = try? found.status(of: "report.json"), status.kind == .file
      else { return nil }
      return (job, status.identity.modified)
    }
    let latest = reports.sorted { ($0.modified, $1.job) > ($1.modified, $0.job) }.prefix(limit)
    return (latest.compactMap { finished($0.job, in: folder) }, reports.count)
  }

  private func finished(_ job: String, in folder: OpenFolder) -> Status.Finished? {
    guard let file = try? folder.open(reading: job + "/report.json"), let head = try? ReportHead(of: file),
      let state = head.state
    else { return nil }
    return Status.Finished(
      job: job, run_id: head.runID, state: state.rawValue, finished_at: head.finished, total: head.counts?.total,
      filtered: head.counts?.filtered, failed: head.counts?.failed, cancelled: head.counts?.cancelled,
      report: OutboxFolder(path: outbox).job(job).report)
  }
}
