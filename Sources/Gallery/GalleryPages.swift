import Ledger
import Model
import Synchronization
import System

/// The pages of live jobs and of the outbox. `GalleryWriter` writes them on its queue.
package final class GalleryPages: @unchecked Sendable {  // what changes and is in no mutex belongs to one queue
  /// A problem with a page.
  struct Trouble {
    let kind: String
    let message: String
  }

  /// The least time between two writes of a page: in seconds, and as a multiple of the duration of a write.
  package static let spacing = 2.0
  static let share = 50.0

  /// The interval at which pages of something live are written without a change, in seconds.
  package static let heartbeat = 10.0

  /// The number of intervals after which a page that was not written again is out of date.
  static let staleAfter = 3.0

  /// How long the end of the program waits for pages that are made again, in seconds.
  private static let checkTime = 1.0

  /// Whether work that can be done at the next start is left out.
  let isClosing = Mutex(false)

  private let outbox: OutboxFolder
  private let staging: Staging
  private let ledger: Ledger
  private let boot: String
  private let latest: @Sendable (Int) -> (jobs: [EndedJob], hasOlder: Bool)
  /// Used on the queue of checks.
  private let checkedPage: RemadePage
  /// Used on the queue on which pages are written.
  private let lostPage: RemadePage

  /// The ended jobs by their keys, and whether there are more.
  private var ended: [ByteKey: EndedJob] = [:]
  private var hasOlder = false

  /// The ended jobs in the order of the page; nil when they must be sorted.
  private var sorted: [EndedJob]?

  /// The name of the job up to which pages were checked for completeness after a power cut; nil when all were.
  private let checkedTo = Mutex<String?>("")
  private var live: [Int: LivePage] = [:]
  private var due = 0.0

  /// When the outbox's page was written last, as `Clock.monotonicSeconds`.
  private var written = 0.0

  /// The live part of the outbox's page as it was last written; nil when the page must be written again.
  private var shown: OutboxPage?

  /// Whether the outbox's page must be written and is not due yet.
  private(set) var isBehind = false

  /// Jobs whose pages must not be made again; nil when the check has ended.
  private let begun = Mutex<Set<ByteKey>?>([])

  /// - Parameters:
  ///   - staging: The folder in which pages are written.
  ///   - boot: The id of the machine's boot.
  ///   - latest: Returns the jobs that ended last, and whether there are more. Called when there is no earlier page.
  package init(
    outbox: OutboxFolder, staging: Staging, ledger: Ledger, boot: String,
    latest: @escaping @Sendable (Int) -> (jobs: [EndedJob], hasOlder: Bool)
  ) {
    self.outbox = outbox
    self.staging = staging
    self.ledger = ledger
    self.boot = boot
    self.latest = latest
    checkedPage = RemadePage(outbox: outbox, staging: staging, name: "checked-" + ExistingPage.name)
    lostPage = RemadePage(outbox: outbox, staging: staging, name: "lost-" + ExistingPage.name)
  }

  // MARK: The start

  /// Reads the ended jobs: from the existing page, and from the ledger those that ended later.
  func load() {
    if let earlier = EarlierPage(of: outbox) {
      if !earlier.boot.isEmpty, earlier.boot == boot { checkedTo.withLock { $0 = earlier.checkedTo } }
      (ended, hasOlder) = (earlier.ended, earlier.hasOlder)
    } else {
      let found = latest(OutboxPage.limit)
      ended = Dictionary(found.jobs.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      hasOlder = found.hasOlder
    }
    guard let folder = try? outbox.open() else { return }
    let known = Set(ended.values.map(\.runID))
    for job in ((try? ledger.ended(limit: OutboxPage.limit)) ?? []).reversed() where !known.contains(job.runID) {
      guard let outcome = try? JobOutcome(text: job.outcome ?? ""), outcome.state != .superseded else { continue }
      add(EndedRun(name: job.name, runID: job.runID, isInHistory: outcome.isRejectedReplacement == true), in: folder)
    }
    for (key, job) in ended {
      // A job whose report was removed is not shown.
      do { if try folder.status(of: job.report) == nil { ended[key] = nil } } catch {}
    }
  }

  /// Makes incomplete pages again, which a power cut may have left.
  func checkPages() {
    defer { begun.withLock { $0 = nil } }
    guard let last = checkedTo.withLock({ $0 }), let folder = try? outbox.open(), let names = try? folder.names()
    else { return }
    let began = Clock.monotonicSeconds
    let all = names.compactMap(\.text).filter { !$0.begins(with: ".") && $0 != ExistingPage.name }.map(ByteKey.init)
    for key in all.filter({ $0 > ByteKey(last) }).sorted() {
      let name = key.text
      // The next start continues.
      if isClosing.withLock({ $0 }), Clock.monotonicSeconds - began > Self.checkTime { return }
      if (try? ExistingPage(in: folder, name + "/" + ExistingPage.name)) == .broken {
        checkedPage.make(name) { begun.withLock { $0?.contains(key) == false } }
      }
      checkedTo.withLock { $0 = name }
    }
    checkedTo.withLock { $0 = nil }
  }

  /// Excludes a job from the check of pages.
  func began(_ job: String) { begun.withLock { _ = $0?.insert(ByteKey(job)) } }

  /// Makes the page of a job again if it is missing or incomplete. Called on the queue of checks.
  func check(_ job: String) { make(checkedPage, of: job) }

  private func make(_ page: RemadePage, of job: String) {
    guard let folder = try? outbox.open(),
      (try? ExistingPage(in: folder, job + "/" + ExistingPage.name))?.isVacant == true
    else { return }
    page.make(job) { true }
  }

  // MARK: Writing

  func endLivePage(of run: Int) { live[run] = nil }

  /// Writes the pages that are due.
  /// - Parameters:
  ///   - runs: The runs that have ended since the last call.
  ///   - lost: The jobs among them whose pages could not be written.
  func write(_ update: GalleryWriter.Update, ended runs: [EndedRun], lost: Set<ByteKey> = []) -> [Trouble] {
    for job in lost { make(lostPage, of: job.text) }
    let numbers = Set(update.jobs.map(\.run.number))
    live = live.filter { numbers.contains($0.key) }
    var troubles: [Trouble] = []
    for job in update.jobs {
      do {
        try live[job.run.number, default: LivePage()].write(job)
      } catch {
        troubles.append(Trouble(kind: "job", message: "the page of job \(job.run.job) is not written: \(error)"))
      }
    }
    do {
      let folder = try outbox.open()
      for run in runs.suffix(OutboxPage.limit) { add(run, in: folder) }
      hasOlder = hasOlder || runs.count > OutboxPage.limit
      trim()
      if let trouble = try write(update, to: folder) { troubles.append(trouble) }
    } catch {
      troubles.append(Trouble(kind: "outbox", message: "the outbox's \(ExistingPage.name) is not written: \(error)"))
    }
    return troubles
  }

  /// Shows a job. One whose report must be read and is gone is not shown.
  private func add(_ run: EndedRun, in folder: OpenFolder) {
    let hasPage =
      !run.isInHistory && (try? ExistingPage(in: folder, run.name + "/" + ExistingPage.name)) == .ours
    guard let head = run.head ?? (try? ReportHead(of: folder.open(reading: run.report))),
      let job = EndedJob(run.name, head, report: run.report, hasPage: hasPage)
    else { return }
    ended[job.key] = job
    // A rejected replacement is not shown any longer when its job has ended.
    if !run.isInHistory { ended[ByteKey(run.name + "/")] = nil }
    (sorted, shown) = (nil, nil)
  }

  /// Removes all but the latest jobs.
  private func trim() {
    guard sorted == nil else { return }
    let all = ended.values.sorted { ($0.finished, $0.key) > ($1.finished, $1.key) }
    for job in all.dropFirst(OutboxPage.limit) { ended[job.key] = nil }
    hasOlder = hasOlder || all.count > OutboxPage.limit
    sorted = Array(all.prefix(OutboxPage.limit))
  }

  private func write(_ update: GalleryWriter.Update, to folder: OpenFolder) throws(SystemError) -> Trouble? {
    let began = Clock.monotonicSeconds
    var page = update.page
    for index in page.live.indices.prefix(OutboxPage.limit) {
      let path = page.live[index].name + "/" + ExistingPage.name
      if (try? ExistingPage(in: folder, path)) == .ours { page.live[index].page = path }
    }
    let isOld = page.hasRuns && began >= written + Self.heartbeat
    guard update.isLast || isOld || page != shown else { return nil }
    isBehind = !update.isLast && began < due
    if isBehind { return nil }
    if let obstacle = try ExistingPage(in: folder).obstacle {
      let path = outbox.path + "/" + ExistingPage.name
      return Trouble(kind: "outbox", message: "\(path) is \(obstacle) and stays: the outbox has no page")
    }
    let names = Set(page.live.map { ByteKey($0.name) })
    let others = (sorted ?? []).filter { !names.contains($0.key) }
    let name = "outbox-" + ExistingPage.name
    do throws(SystemError) {
      let file = PageFile(try staging.create(name), .outbox, title: Folder.name(of: outbox.path))
      try page.write(
        to: file, ended: others.map(\.json), hasOlder: hasOlder || page.live.count + others.count > OutboxPage.limit,
        boot: boot, checkedTo: checkedTo.withLock { $0 }, now: .time(Clock.wallMilliseconds))
      try file.end()
      try staging.open().rename(name, to: folder, as: ExistingPage.name)
    } catch {
      staging.remove(name)
      throw error
    }
    let end = Clock.monotonicSeconds
    due = began + max(Self.spacing, Self.share * (end - began))
    (shown, written) = (page, began)
    return nil
  }
}
