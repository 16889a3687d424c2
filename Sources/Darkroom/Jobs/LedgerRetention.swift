import Dispatch
import Foundation
import Glibc
import Ledger
import Synchronization
import System

/// Takes out of the ledger what no run needs any more, and makes its file smaller, in bounded steps on a queue of its own,
/// at most one in a second.
///
/// - The entries of an ended run are not needed; most are removed when it ends, the others step by step, and after them the
///   run.
/// - An ended run is needed while its manifest may be found in the inbox again.
/// - The record of a result lives as long as its file. Without the file it tells the next run whether its source has changed,
///   for `outputAge`.
/// - What failed in a job's last run, and the names that were derived in it, are needed as long as the job has a folder, and for `jobAge`: a consumer may move the
///   folder away after each run.
///
/// The more is delivered, the more is looked at, so that what is in the ledger is bounded however much passes through it.
final class LedgerRetention: Sendable {
  /// How long the record of a file that is gone is kept, in seconds.
  static let outputAge = 8 * 86_400.0

  /// How long the failures and names of a job whose folder is gone are kept, in seconds.
  static let jobAge = 35 * 86_400.0

  /// So many ended runs may be remembered before they are looked at, because that takes a sync.
  static let endedRuns = 128

  /// So many pages, of 4 KiB, and a quarter of the file, must hold nothing for it to be made smaller; then it gives back all
  /// but a quarter of that.
  static let freePages = 1024

  /// So many pages are given back in one commit.
  static let releasedPages = 1024

  /// So many entries of a run that has ended are removed in one commit.
  private static let removedEntries = 5000

  private static let pageSize = 512

  /// So many ended runs leave in one commit, or a page more.
  private static let mostRuns = 4096
  private static let spacing = 1.0

  /// How long a step may take, in seconds.
  private static let stepTime = 1.0

  /// Where the sweep through the ledger is. It is not synced: without it the sweep begins anew.
  private struct Position: Codable, Equatable {
    var job = ""
    var target = ""
    var lastRun = LastRun()
  }

  /// The last run of a job that the sweep has passed; empty before the first.
  private struct LastRun: Codable, Equatable {
    var job = ""
    var run = ""
  }

  private struct Shared {
    /// How many records of results are to be looked at.
    var outputs = 0
    /// How many last runs.
    var runs = 0
    var isScheduled = false
    var lastStep: Double?
    var isClosed = false
    var position: Position
    var savedPosition: Position
  }

  private let ledger: Ledger
  private let state: StateFolder
  private let outbox: OpenFolder
  private let inbox: Inbox
  private let queue = DispatchQueue(label: "Retention", qos: .utility)
  private let shared: Mutex<Shared>

  /// - Parameter outbox: The folder, held open.
  init(ledger: Ledger, state: StateFolder, outbox: OpenFolder, inbox: Inbox) {
    self.ledger = ledger
    self.state = state
    self.outbox = outbox
    self.inbox = inbox
    let position =
      (try? OpenFile(reading: state.retention, followingLinks: false).readAll())
      .flatMap { try? JSONDecoder().decode(Position.self, from: $0) } ?? Position()
    shared = Mutex(Shared(position: position, savedPosition: position))
    // An earlier process may have left entries.
    schedule(after: Self.spacing)
  }

  /// A run has ended.
  /// - Parameter delivered: How many results it has delivered.
  func runEnded(delivered: Int) {
    let delay = shared.withLock { shared in
      shared.outputs += 2 * delivered + 64
      shared.runs += 4
      return shared.lastStep.map { max(0, $0 + Self.spacing - Clock.monotonicSeconds) } ?? 0
    }
    schedule(after: delay)
  }

  private func schedule(after delay: Double) {
    let mustSchedule = shared.withLock { shared in
      defer { shared.isScheduled = true }
      return !shared.isScheduled && !shared.isClosed
    }
    guard mustSchedule else { return }
    queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.step() }
  }

  /// Does what is due, as far as there is time, and nothing more from then on.
  func close() {
    queue.sync {
      step()
      shared.withLock { $0.isClosed = true }
      save()
    }
  }

  /// Does what is due. What goes wrong is left for another time: whoever needs the ledger finds out.
  func step() {
    let began = Clock.monotonicSeconds
    let due: (outputs: Int, runs: Int)? = shared.withLock { shared in
      guard shared.isScheduled, !shared.isClosed else { return nil }
      defer { (shared.outputs, shared.runs, shared.isScheduled, shared.lastStep) = (0, 0, false, began) }
      return (shared.outputs, shared.runs)
    }
    guard let (outputs, runs) = due else { return }
    do {
      // What else is due gets its time, however many entries there are.
      let hasMore = try removeEntries(until: began + Self.stepTime / 2)
      if hasMore { schedule(after: Self.spacing) }
      if outputs > 0 { try forget(outputs, runs, until: began + Self.stepTime) }
      try shrink(until: began + Self.stepTime)
    } catch {
      if error.isDamageOfLedger { shared.withLock { $0.isClosed = true } }
    }
  }

  private var position: Position { shared.withLock { $0.position } }

  // MARK: What may leave

  /// - Returns: Whether entries of ended runs are left.
  private func removeEntries(until end: Double) throws -> Bool {
    while try ledger.removeEndedEntries(Self.removedEntries) {
      if Clock.monotonicSeconds >= end { return true }
    }
    return false
  }

  private func forget(_ outputs: Int, _ runs: Int, until end: Double) throws {
    try forgetRuns(until: end)
    // Where it is not mounted everything is missing.
    if try outbox.status(of: Folder.name(of: OutboxFolder(path: outbox.path).hidden)) != nil {
      try forgetLastRuns(runs)
      try forgetOutputs(outputs, until: end)
    }
  }

  private func forgetOutputs(_ count: Int, until end: Double) throws {
    var left = count
    let results = ResultFolders()
    while left > 0, Clock.monotonicSeconds < end {
      let (last, limit) = (position, min(left, Self.pageSize))
      let page = try ledger.outputs(after: last.job, last.target, limit: limit)
      left -= limit
      let gone = page.filter { isForgettable($0.identity) && isGone($0.target, of: $0.job, results) }
      try ledger.commit(gone.map { .forget(.output(job: $0.job, target: $0.target, identity: $0.identity)) })
      shared.withLock { shared in
        let end = page.count < limit ? nil : page.last
        (shared.position.job, shared.position.target) = (end?.job ?? "", end?.target ?? "")
      }
      if page.count < limit { return }
    }
    if left == 0 { return }
    // The time was over. The rest is as due as it was.
    shared.withLock { $0.outputs += left }
    schedule(after: Self.spacing)
  }

  /// Whether a file was delivered long ago.
  private func isForgettable(_ identity: String?) -> Bool {
    guard let changed = identity.flatMap(FileIdentity.changed(inText:)) else { return true }
    return Double(Clock.wallMilliseconds) / 1000 - changed > Self.outputAge
  }

  /// Whether it is certain that there is no file of an output's name.
  private func isGone(_ target: String, of job: String, _ results: ResultFolders) -> Bool {
    do {
      return try results.status(of: target, in: OutboxFolder(path: outbox.path, handle: outbox).job(job)) == nil
    } catch {
      return false
    }
  }

  private func forgetLastRuns(_ count: Int) throws {
    let limit = min(count, Self.pageSize)
    let last = position.lastRun
    let page = try ledger.lastRuns(after: last.job, last.run, limit: limit)
    let now = Double(Clock.wallMilliseconds) / 1000
    let gone = page.filter { last in
      guard let began = RunID.date(of: last.run)?.timeIntervalSince1970, now - began > Self.jobAge else { return false }
      return isGone(last.job)
    }
    try ledger.commit(gone.map { .forget(.lastRun(job: $0.job, run: $0.run)) })
    let end = page.count < limit ? nil : page.last
    shared.withLock { $0.position.lastRun = LastRun(job: end?.job ?? "", run: end?.run ?? "") }
  }

  /// Whether it is certain that there is nothing of a job.
  private func isGone(_ job: String) -> Bool {
    do {
      return try outbox.status(of: job) == nil
    } catch {
      return false
    }
  }

  private func forgetRuns(until end: Double) throws {
    guard try ledger.endedRunCount() >= Self.endedRuns else { return }
    // What lies there is being moved out of the inbox, or back.
    guard try ParkingFolder.all(in: inbox.folder).folders.isEmpty else { return }
    var (sequence, gone) = (0, [LedgerChange]())
    while gone.count < Self.mostRuns, Clock.monotonicSeconds < end {
      let page = try ledger.endedRuns(after: sequence, limit: Self.pageSize)
      gone += page.filter { hasNoManifest($0.details) }.map { .forget(.endedRun($0.runID)) }
      guard page.count == Self.pageSize, let last = page.last else { break }
      sequence = last.sequence
    }
    if gone.isEmpty { return }
    // After a power cut a file may be there again whose removal was not on disk.
    try inbox.folder.sync()
    try ledger.commit(gone)
  }

  /// Whether a run's manifest is not in the inbox any more.
  private func hasNoManifest(_ details: String) -> Bool {
    guard let manifest = try? JobManifest(text: details) else { return false }
    guard let path = manifest.inboxPath else { return true }
    guard Folder.parent(of: path) == inbox.path else { return false }
    do {
      guard let found = try inbox.folder.status(of: Folder.name(of: path)) else { return true }
      return !ManifestRemoval.isSameFile(found.identity, manifest.identity)
    } catch {
      return false
    }
  }

  // MARK: The file

  private func shrink(until end: Double) throws {
    var pages = try ledger.pages()
    guard pages.free > Self.freePages, pages.free > pages.total / 4 else { return }
    while pages.free > Self.freePages / 4, Clock.monotonicSeconds < end {
      try ledger.release(pages: min(Self.releasedPages, pages.free - Self.freePages / 4))
      let left = try ledger.pages()
      // A file of an earlier version that was too large to be rewritten.
      if left.total >= pages.total { return }
      pages = left
    }
  }

  private func save() {
    let (now, saved) = shared.withLock { ($0.position, $0.savedPosition) }
    guard now != saved, let data = try? JSONEncoder().encode(now) else { return }
    shared.withLock { $0.savedPosition = now }
    // Without it the sweep begins anew.
    try? state.openFolder().replace(
      Folder.name(of: state.retention), with: String(decoding: data, as: UTF8.self), mode: 0o600)
  }
}
