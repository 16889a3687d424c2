import JSON
import Model
import System

/// The page of a run that has ended, made from the rows that pass when its report is written, and placed before that. What goes
/// wrong with it is told; then it is made again when the report is there.
package final class FinalPage {
  /// What is in its place and not the program's, in words; nil when nothing is.
  package let obstacle: String?

  private let run: RunContext
  private let writer: GalleryWriter
  private var page: JobPage?

  /// - Returns: nil for a run whose report goes to `history`: another's page is in its place.
  package init?(of run: RunContext, by writer: GalleryWriter) {
    guard !run.isInHistory else { return nil }
    self.run = run
    self.writer = writer
    do throws(SystemError) {
      obstacle = try PagePlace(in: run.folder.open()).obstacle
    } catch {
      if error.cause != .missing {
        // What is there now cannot be known.
        writer.report("the page of job \(run.job) is not written: \(error)", once: "job")
        writer.lostPage(of: run)
        return nil
      }
      obstacle = nil
    }
  }

  private var staged: String { run.staging.document(PagePlace.name) }

  package func begin(_ head: ReportHead, _ counts: JobOutcome.Counts) {
    guard obstacle == nil else { return }
    attempt {
      page = try JobPage(
        to: run.staging.create(staged), job: run.job, head: head, total: counts.total, failed: counts.failed)
    }
  }

  package func add(_ row: String) {
    guard let page else { return }
    attempt { try page.add(row) }
  }

  /// Gives it its name.
  package func place() {
    guard let page else { return }
    attempt {
      try page.end()
      writer.endLivePage(of: run)
      // Whoever waited for the results may have taken the folder away, and somebody may have put a page there meanwhile.
      let folder = try run.folder.createDurably()
      if let obstacle = try PagePlace(in: folder).obstacle { throw Obstacle(what: obstacle) }
      try run.staging.open().rename(staged, to: folder, as: PagePlace.name)
    }
  }

  private struct Obstacle: Error, CustomStringConvertible {
    let what: String
    var description: String { "in its place is \(what), which stays" }
  }

  private func attempt(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      page = nil
      run.staging.remove(staged)
      writer.report("the page of job \(run.job) is not written: \(error)", once: "job")
      removeLivePage()
      writer.lostPage(of: run)
    }
  }

  /// Removes a page that says that the job runs, and reads itself again for ever.
  private func removeLivePage() {
    writer.endLivePage(of: run)
    guard let folder = try? run.folder.open(), (try? PagePlace(in: folder)) == .ours else { return }
    try? folder.remove(PagePlace.name)
  }
}
