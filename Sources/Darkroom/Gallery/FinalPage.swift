import JSON
import System

/// The page of a run that has ended, made from the rows that pass when its report is written, and placed before that. What goes
/// wrong with it is told and has no consequences.
final class FinalPage {
  /// What is in its place and not the program's, in words; nil when nothing is.
  let obstacle: String?

  private let run: RunContext
  private let writer: GalleryWriter
  private var page: JobPage?

  /// - Returns: nil for a run whose report goes to `history`: another's page is in its place.
  init?(of run: RunContext, by writer: GalleryWriter) {
    guard !run.isInHistory else { return nil }
    self.run = run
    self.writer = writer
    obstacle = (try? PagePlace(in: run.folder.open()))?.obstacle
  }

  private var staged: String { run.staging.document(PagePlace.name) }

  /// Begins to write it.
  func begin(_ head: ReportHead, _ counts: JobOutcome.Counts) {
    guard obstacle == nil else { return }
    attempt {
      page = try JobPage(
        to: run.staging.create(staged), job: run.job, head: head, total: counts.total, failed: counts.failed)
    }
  }

  func add(_ row: String) {
    guard let page else { return }
    attempt { try page.add(row) }
  }

  /// Gives it its name.
  func place() {
    guard let page else { return }
    attempt {
      try page.end()
      writer.endLivePage(of: run)
      // Whoever waited for the results may have taken the folder away.
      try run.staging.open().rename(staged, to: run.folder.createDurably(), as: PagePlace.name)
    }
  }

  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      page = nil
      run.staging.remove(staged)
      writer.report("the page of job \(run.job) is not written: \(error)", once: "job")
    }
  }
}
