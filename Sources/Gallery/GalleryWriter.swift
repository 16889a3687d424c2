import Dispatch
import Ledger
import Model
import Synchronization
import System

/// Writes the gallery's pages, on a thread of its own: those of live jobs, and the outbox's. The page of a job that has ended is
/// a `FinalPage`. Nothing is synced: at the first start after one of the machine pages that are not whole are made again.
///
/// What goes wrong is told once and has no consequences.
package final class GalleryWriter: Sendable {
  /// A live job, for its page.
  package struct LiveJob: Sendable {
    package let run: RunContext
    package let live: JobPage.Live

    /// What would be in its report now.
    let head: @Sendable () -> ReportHead

    package init(run: RunContext, live: JobPage.Live, head: @escaping @Sendable () -> ReportHead) {
      self.run = run
      self.live = live
      self.head = head
    }
  }

  /// What is to be shown now.
  package struct Update: Sendable {
    package let page: OutboxPage
    package var jobs: [LiveJob] = []

    /// Whether the program ends.
    package var isLast = false

    package init(page: OutboxPage, jobs: [LiveJob] = [], isLast: Bool = false) {
      self.page = page
      self.jobs = jobs
      self.isLast = isLast
    }
  }

  private struct Shared {
    var isBusy = true
    var isBehind = false
    /// The runs that ended since the last page, the last of them.
    var ended: [EndedRun] = []
    /// The runs whose pages may be being written.
    var live: Set<Int> = []
    /// Jobs whose pages could not be made while their reports were written.
    var lost: Set<String> = []
    var told: Set<String> = []
  }

  private let shared = Mutex(Shared())
  private let queue = DispatchQueue(label: "Gallery", qos: .utility)

  /// Where pages are made again. Nothing waits for it but the end of the program, for a moment.
  private let checks = DispatchQueue(label: "Gallery checks", qos: .utility)
  private let pages: GalleryPages
  private let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - pages: Which this owns from now on.
  ///   - warn: Called on any thread.
  package init(_ pages: GalleryPages, warn: @escaping @Sendable (String) -> Void) {
    self.pages = pages
    self.warn = warn
    queue.async {
      pages.load()
      self.shared.withLock { $0.isBusy = false }
      self.checks.async { pages.checkPages() }
    }
  }

  /// Whether it has not done what it was asked for last.
  package var isBusy: Bool { shared.withLock { $0.isBusy } }

  /// Whether the outbox's page lacks what it was told of.
  package var isBehind: Bool { shared.withLock { $0.isBehind || !$0.ended.isEmpty } }

  package func ended(_ run: EndedRun) {
    shared.withLock { shared in
      shared.ended.append(run)
      if shared.ended.count >= 2 * OutboxPage.limit { shared.ended.removeFirst(OutboxPage.limit) }
    }
  }

  /// Writes pages, unless they were written too shortly before.
  package func write(_ update: Update) {
    shared.withLock { shared in
      shared.isBusy = true
      shared.live = Set(update.jobs.map(\.run.number))
    }
    queue.async {
      self.perform(update)
      self.shared.withLock { $0.isBusy = false }
    }
  }

  /// Writes the pages as they are to stay while no process runs, and waits for that.
  package func close(_ update: Update) {
    pages.isClosing.withLock { $0 = true }
    // The checks come after what is read at the start.
    queue.sync {}
    checks.sync {}
    queue.sync { perform(update) }
  }

  private func perform(_ update: Update) {
    let (ended, lost) = shared.withLock { shared in
      defer { shared.ended = [] }
      let lost = shared.lost.intersection(shared.ended.map(\.name))
      shared.lost.subtract(lost)
      return (shared.ended, lost)
    }
    for trouble in pages.write(update, ended: ended, lost: lost) { report(trouble.message, once: trouble.kind) }
    let isBehind = pages.isBehind
    shared.withLock { $0.isBehind = isBehind }
  }

  /// Ends the writing of the live page of a run whose phase has changed, and waits for it: the next page is another's.
  func endLivePage(of run: RunContext) {
    let number = run.number
    guard shared.withLock({ $0.live.remove(number) != nil }) else { return }
    queue.sync { pages.endLivePage(of: number) }
  }

  /// Makes the page of a run, which could not be made, again when the run has ended: from the report.
  func lostPage(of run: RunContext) { shared.withLock { _ = $0.lost.insert(run.job) } }

  /// Leaves a page of a job alone that was found to be not whole: it gets another.
  package func willEnd(_ job: String) { pages.began(job) }

  /// Makes the page of a job whose report an earlier process wrote again, if need be.
  package func check(_ job: String) { checks.async { self.pages.check(job) } }

  /// Tells of trouble.
  /// - Parameter kind: Nothing more is told of the same.
  func report(_ trouble: String, once kind: String) {
    if shared.withLock({ $0.told.insert(kind).inserted }) { warn(trouble) }
  }
}
