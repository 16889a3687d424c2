import Model
import System

/// Makes the page of a job that has ended again, from its report.
struct RemadePage: Sendable {
  let outbox: OutboxFolder
  let staging: Staging

  /// The staged file: one that nothing else writes meanwhile.
  let name: String

  /// Makes it, or removes what is left of it when there is no report. What goes wrong is left for another start.
  /// - Parameter isWanted: Whether it still is, asked just before it gets its name.
  func make(_ job: String, isWanted: () -> Bool) {
    do {
      let folder = try outbox.job(job).open()
      guard let report = try? folder.open(reading: "report.json"), try report.status().kind == .file,
        let head = try ReportHead(of: report)
      else {
        // Whoever made an empty file in another folder wants it there.
        let isJob = try folder.status(of: "entries.jsonl") != nil
        if isJob, isWanted(), try PagePlace(in: folder) == .broken { try folder.remove(PagePlace.name) }
        return
      }
      var rows = RowPlaces()
      _ = try rows.update(from: report)
      let page = try JobPage(
        to: staging.create(name), job: job, head: head, total: rows.counts.total, failed: rows.counts.failed)
      try rows.each(of: report) { (row, count) throws(SystemError) in try page.add(row, count) }
      try page.end()
      // A run may have ended meanwhile.
      if isWanted(), try PagePlace(in: folder).isVacant {
        try staging.open().rename(name, to: folder, as: PagePlace.name)
      }
      staging.remove(name)
    } catch {
      staging.remove(name)
    }
  }
}
