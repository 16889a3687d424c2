import Model
import System

/// Makes the page of an ended job again from its report.
struct RemadePage: Sendable {
  let outbox: OutboxFolder
  let staging: Staging

  /// The name of the staged file, which nothing else uses.
  let name: String

  /// Makes the page, or removes an incomplete one if there is no report. Errors are left to the next start.
  /// - Parameter isWanted: Whether the page is still wanted. Called just before it gets its final name.
  func make(_ job: String, isWanted: () -> Bool) {
    do {
      let folder = try outbox.job(job).open()
      guard let report = try? folder.open(reading: "report.json"), try report.status().kind == .file,
        let head = try ReportHead(of: report)
      else {
        // An empty file in a folder that is not a job's belongs to somebody else.
        let isJob = try folder.status(of: "entries.jsonl") != nil
        if isJob, isWanted(), try ExistingPage(in: folder) == .broken { try folder.remove(ExistingPage.name) }
        return
      }
      let shown = ShownReport(before: head, in: folder) ?? ShownReport(report, head)
      try JobPage(to: staging.create(name), job: job, showing: shown).end()
      // A run may have ended in the meantime.
      if isWanted(), try ExistingPage(in: folder).isVacant {
        try staging.open().rename(name, to: folder, as: ExistingPage.name)
      }
      staging.remove(name)
    } catch {
      staging.remove(name)
    }
  }
}
