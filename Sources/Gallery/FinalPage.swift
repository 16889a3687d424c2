import Model
import System

/// The page of an ended run. It is made from the rows that are written to the report, and placed before the report.
/// Errors are reported, and the page is made again when the report exists.
package final class FinalPage {
  /// A description of another file with the page's name; nil when there is none.
  package let obstacle: String?

  private let run: RunContext
  private let writer: GalleryWriter
  private var page: JobPage?

  /// - Returns: nil for a run whose report goes to `history`, since the job's page belongs to another run.
  package init?(of run: RunContext, by writer: GalleryWriter) {
    guard !run.isInHistory else { return nil }
    self.run = run
    self.writer = writer
    do throws(SystemError) {
      obstacle = try ExistingPage(in: run.folder.open()).obstacle
    } catch {
      if error.cause != .missing {
        // The existing file cannot be examined.
        writer.report("the page of job \(run.job) is not written: \(error)", once: "job")
        writer.lostPage(of: run)
        return nil
      }
      obstacle = nil
    }
  }

  private var staged: String { run.staging.document(ExistingPage.name) }

  package func begin(_ head: ReportHead, _ counts: JobOutcome.Counts) {
    guard obstacle == nil else { return }
    attempt {
      let file = try run.staging.create(staged)
      if let earlier = (try? run.folder.open()).flatMap({ ShownReport(before: head, in: $0) }) {
        page = try JobPage(to: file, job: run.job, showing: earlier)
      } else {
        page = try JobPage(to: file, job: run.job, head: head, total: counts.total, failed: counts.failed)
      }
    }
  }

  package func add(_ row: String) {
    guard let page else { return }
    attempt { try page.add(row) }
  }

  /// Moves the page to its final name.
  package func place() {
    guard let page else { return }
    attempt {
      try page.end()
      writer.endLivePage(of: run)
      // A consumer may have moved the folder away, or added a file with the page's name.
      let folder = try run.folder.createDurably()
      if let obstacle = try ExistingPage(in: folder).obstacle { throw Obstacle(what: obstacle) }
      try run.staging.open().rename(staged, to: folder, as: ExistingPage.name)
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

  /// Removes a page of the running job, which would reload itself forever.
  private func removeLivePage() {
    writer.endLivePage(of: run)
    guard let folder = try? run.folder.open(), (try? ExistingPage(in: folder)) == .ours else { return }
    try? folder.remove(ExistingPage.name)
  }
}
