import Dispatch
import Model
import Synchronization
import System

/// Writes the gallery's pages of live jobs and of the outbox on a thread of its own. A `FinalPage` is written when a
/// job ends. Nothing is synced; incomplete pages are made again at the first start after a reboot.
///
/// Each kind of problem is reported once, and has no other consequences.
package final class GalleryWriter: Sendable {
  /// A live job, for its page.
  package struct LiveJob: Sendable {
    package let run: RunContext
    package let live: JobPage.Live

    /// Returns the head that its report would have now.
    let head: @Sendable () -> ReportHead

    package init(run: RunContext, live: JobPage.Live, head: @escaping @Sendable () -> ReportHead) {
      self.run = run
      self.live = live
      self.head = head
    }
  }

  /// The contents to show.
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
    /// The latest runs that have ended since the last write.
    var ended: [EndedRun] = []
    /// The runs whose live pages may be being written.
    var live: Set<Int> = []
    /// Jobs whose pages could not be written with their reports.
    var lost: Set<ByteKey> = []
    var told: Set<String> = []
  }

  private let shared = Mutex(Shared())
  private let queue = DispatchQueue(label: "Gallery", qos: .utility)

  /// The queue on which pages are made again. Only the end of the program waits for it, for a moment.
  private let checks = DispatchQueue(label: "Gallery checks", qos: .utility)
  private let pages: GalleryPages
  private let warn: @Sendable (String) -> Void

  /// - Parameters:
  ///   - pages: The pages, which must not be used otherwise.
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

  /// Whether it has not completed the last request.
  package var isBusy: Bool { shared.withLock { $0.isBusy } }

  /// Whether the outbox's page is not up to date.
  package var isBehind: Bool { shared.withLock { $0.isBehind || !$0.ended.isEmpty } }

  package func ended(_ run: EndedRun) {
    shared.withLock { shared in
      shared.ended.append(run)
      if shared.ended.count >= 2 * OutboxPage.limit { shared.ended.removeFirst(OutboxPage.limit) }
    }
  }

  /// Writes pages that are due.
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

  /// Writes the pages for the time while no process runs, and waits for that.
  package func close(_ update: Update) {
    pages.isClosing.withLock { $0 = true }
    // Checks are queued after the pages are loaded.
    queue.sync {}
    checks.sync {}
    queue.sync { perform(update) }
  }

  private func perform(_ update: Update) {
    let (ended, lost) = shared.withLock { shared in
      defer { shared.ended = [] }
      let lost = shared.lost.intersection(shared.ended.map { ByteKey($0.name) })
      shared.lost.subtract(lost)
      return (shared.ended, lost)
    }
    for trouble in pages.write(update, ended: ended, lost: lost) { report(trouble.message, once: trouble.kind) }
    let isBehind = pages.isBehind
    shared.withLock { $0.isBehind = isBehind }
  }

  /// Stops writing the live page of a run whose phase has changed, and waits until that is done.
  func endLivePage(of run: RunContext) {
    let number = run.number
    guard shared.withLock({ $0.live.remove(number) != nil }) else { return }
    queue.sync { pages.endLivePage(of: number) }
  }

  /// Requests that the page of a run, which could not be written, is made from the report when the run has ended.
  func lostPage(of run: RunContext) { shared.withLock { _ = $0.lost.insert(ByteKey(run.job)) } }

  /// Excludes a job from the check of pages, because its page will be written.
  package func willEnd(_ job: String) { pages.began(job) }

  /// Checks the page of a job whose report an earlier process wrote.
  package func check(_ job: String) { checks.async { self.pages.check(job) } }

  /// Reports a problem.
  /// - Parameter kind: The kind of the problem. Only the first of each kind is reported.
  func report(_ trouble: String, once kind: String) {
    if shared.withLock({ $0.told.insert(kind).inserted }) { warn(trouble) }
  }
}
