import Delivery
import Dispatch
import Foundation
import Glibc
import Inbox
import Ledger
import Model
import Synchronization
import System

/// Removes from the ledger what no run needs any more, as `Retention` says, and makes its file smaller, in bounded steps on a
/// queue of its own, at most one in a second.
///
/// Of the entries of an ended run most are removed when it ends, the others step by step, and after them the run: all of a
/// million rows in one commit would hold up every delivery for seconds. The more is
/// delivered, the more is looked at, so that what is in the ledger is bounded however much passes through it.
final class LedgerRetention: Sendable {
  /// So many pages, of 4 KiB, and a quarter of the file, must hold nothing for it to be made smaller; then it gives back all
  /// but a quarter of that.
  static let freePages = 1024

  /// So many pages are given back in one commit.
  static let releasedPages = 1024

  /// So many entries of a run that has ended are removed in one commit.
  private static let removedEntries = 5000

  /// So many rows are looked at, and at most removed, in one commit.
  private static let pageSize = 512
  private static let spacing = 1.0

  /// How long a step may take, in seconds.
  private static let stepTime = 1.0

  /// The last row of a table that was looked at; empty before the first.
  private struct Row: Codable, Equatable {
    var job = ""
    /// The result's target, or the run.
    var name = ""
  }

  /// Where the sweep through the ledger is. It is not synced: without it the sweep begins anew.
  private struct Position: Codable, Equatable {
    var result = Row()
    var lastRun = Row()
  }

  /// How many rows are to be looked at.
  private struct Due {
    var results = 0
    var lastRuns = 0
  }

  private struct Shared {
    var due = Due()
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
      shared.due.results += 2 * delivered + 64
      shared.due.lastRuns += 4
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
    let work: (due: Due, position: Position)? = shared.withLock { shared in
      guard shared.isScheduled, !shared.isClosed else { return nil }
      defer { (shared.due, shared.isScheduled, shared.lastStep) = (Due(), false, began) }
      return (shared.due, shared.position)
    }
    guard var (due, position) = work else { return }
    do {
      // What else is due gets its time, however many entries there are.
      let hasEntries = try removeEntries(until: began + Self.stepTime / 2)
      if hasEntries { schedule(after: Self.spacing) }
      if due.results > 0 { try sweep(&due, &position, until: began + Self.stepTime) }
      shared.withLock { shared in
        shared.position = position
        shared.due.results += due.results
        shared.due.lastRuns += due.lastRuns
      }
      if due.results > 0 { schedule(after: Self.spacing) }
      try shrink(until: began + Self.stepTime)
    } catch {
      if error.isDamageOfLedger { shared.withLock { $0.isClosed = true } }
    }
  }

  // MARK: What may leave

  /// - Returns: Whether entries of ended runs are left.
  private func removeEntries(until end: Double) throws -> Bool {
    while try ledger.removeEndedEntries(Self.removedEntries) {
      if Clock.monotonicSeconds >= end { return true }
    }
    return false
  }

  /// - Parameter due: Gets what is left when the time is over.
  private func sweep(_ due: inout Due, _ position: inout Position, until end: Double) throws {
    try forgetEndedRuns(until: end)
    // Where it is not mounted everything is missing.
    guard try outbox.status(of: Folder.name(of: OutboxFolder(path: outbox.path).hidden)) != nil else {
      due = Due()
      return
    }
    let now = Clock.wallSeconds
    try sweep(
      &position.lastRun, &due.lastRuns, until: end,
      page: { try ledger.lastRuns(after: $0.job, $0.name, limit: $1) }, key: { Row(job: $0.job, name: $0.run) }
    ) { [outbox] last in
      guard let began = RunID.date(of: last.run)?.timeIntervalSince1970, now - began > Retention.lastRun,
        Self.isGone({ try outbox.status(of: last.job) })
      else { return nil }
      return .lastRun(job: last.job, run: last.run)
    }
    let folders = ResultFolders()
    try sweep(
      &position.result, &due.results, until: end,
      page: { try ledger.outputs(after: $0.job, $0.name, limit: $1) }, key: { Row(job: $0.job, name: $0.target) }
    ) { [outbox] result in
      // When it was delivered is not always known.
      let changed = result.identity.flatMap(FileIdentity.changed(inText:)) ?? -.infinity
      guard now - changed > Retention.resultRecord,
        Self.isGone({
          try folders.status(of: result.target, in: OutboxFolder(path: outbox.path, handle: outbox).job(result.job))
        })
      else { return nil }
      return .output(job: result.job, target: result.target, identity: result.identity)
    }
  }

  /// Looks at rows of a table, page by page.
  /// - Parameters:
  ///   - last: Where it goes on; empty again at the table's end.
  ///   - count: How many are looked at at most; becomes how many of them are left when the time is over.
  ///   - record: What leaves with a row; nil when that stays.
  private func sweep<T>(
    _ last: inout Row, _ count: inout Int, until end: Double, page: (Row, Int) throws -> [T], key: (T) -> Row,
    record: (T) -> LedgerRecord?
  ) throws {
    while count > 0, Clock.monotonicSeconds < end {
      let limit = min(count, Self.pageSize)
      let rows = try page(last, limit)
      try ledger.commit(rows.compactMap(record).map { .forget($0) })
      last = rows.count < limit ? Row() : rows.last.map(key) ?? Row()
      count = rows.count < limit ? 0 : count - limit
    }
  }

  /// Whether it is certain that something is not there.
  private static func isGone(_ status: () throws -> FileStatus?) -> Bool {
    do {
      return try status() == nil
    } catch {
      return false
    }
  }

  private func forgetEndedRuns(until end: Double) throws {
    guard try ledger.endedRunCount() >= Retention.endedRuns else { return }
    // What lies there is being moved out of the inbox, or back.
    guard try ParkingFolder.all(in: inbox.folder).folders.isEmpty else { return }
    var sequence: Int? = 0
    while let last = sequence, Clock.monotonicSeconds < end {
      let page = try ledger.endedRuns(after: last, limit: Self.pageSize)
      sequence = page.last?.sequence
      let gone = page.filter { hasNoManifest($0.details) }
      if gone.isEmpty { continue }
      // After a power cut a file may be there again whose removal was not on disk.
      try inbox.folder.sync()
      try ledger.commit(gone.map { .forget(.endedRun($0.runID)) })
    }
  }

  /// Whether a run's manifest is not in the inbox any more.
  private func hasNoManifest(_ details: String) -> Bool {
    guard let manifest = try? JobManifest(text: details) else { return false }
    guard let path = manifest.inboxPath else { return true }
    guard Folder.parent(of: path) == inbox.path else { return false }
    return Self.isGone {
      let found = try inbox.folder.status(of: Folder.name(of: path))
      return found.flatMap { ManifestRemoval.isSameFile($0.identity, manifest.identity) ? $0 : nil }
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
