import Delivery
import Foundation
import Inbox
import Ledger
import Model
import System

/// Removes records that no run needs from the ledger, according to `Retention`, and shrinks its file.
struct LedgerSweep: Sendable {
  /// The number of free pages above which the file is shrunk, if they are also more than a quarter of the
  /// file. A quarter of this number is kept.
  static let freePages = 512

  /// The most pages that one commit releases.
  private static let releasedPages = 512

  /// The most entries of ended runs that one commit removes.
  private static let removedEntries = 5000

  /// The most rows that one commit examines.
  private static let pageSize = 512

  /// The last row of a table that was examined; empty before the first.
  struct Row: Codable, Equatable {
    var job = ""
    /// The result's target, or the run.
    var name = ""
  }

  /// The position of the sweep through the ledger.
  struct Position: Codable, Equatable {
    var result = Row()
    var lastRun = Row()
  }

  /// The numbers of rows to examine.
  struct Due {
    var results = 0
    var lastRuns = 0
  }

  let ledger: Ledger

  /// The open outbox.
  let outbox: OpenFolder
  let inbox: Inbox

  // MARK: Removing records

  /// - Returns: Whether entries of ended runs are left.
  func removeEntries(until end: Double) throws -> Bool {
    while try ledger.removeEndedEntries(Self.removedEntries) {
      if Clock.monotonicSeconds >= end { return true }
    }
    return false
  }

  /// Examines records, from a position on.
  /// - Parameters:
  ///   - due: The numbers of rows to examine. Receives the numbers that are left when the time is over.
  ///   - commit: Called with the records to remove, page by page.
  func examine(
    _ due: inout Due, _ position: inout Position, until end: Double, _ commit: ([LedgerRecord]) throws -> Void
  ) throws {
    try forgetEndedRuns(until: end, commit)
    // If the outbox is not mounted, all files seem to be missing.
    guard try outbox.status(of: Folder.name(of: OutboxFolder(path: outbox.path).hidden)) != nil else {
      due = Due()
      return
    }
    let now = Clock.wallSeconds
    try examine(
      &position.lastRun, &due.lastRuns, until: end,
      page: { try ledger.lastRuns(after: $0.job, $0.name, limit: $1) }, key: { Row(job: $0.job, name: $0.run) },
      commit: commit
    ) { [outbox] last in
      // A name from a clock that was ahead is of the future.
      guard let began = RunID.date(of: last.run)?.timeIntervalSince1970, abs(now - began) > Retention.lastRun,
        Self.isGone({ try outbox.status(of: last.job) })
      else { return nil }
      return .lastRun(job: last.job, run: last.run)
    }
    let folders = ResultFolders()
    try examine(
      &position.result, &due.results, until: end,
      page: { try ledger.outputs(after: $0.job, $0.name, limit: $1) }, key: { Row(job: $0.job, name: $0.target) },
      commit: commit
    ) { [outbox] result in
      // The time of the delivery is not always known.
      let changed = result.identity.flatMap(FileIdentity.changed(inText:)) ?? -.infinity
      guard now - changed > Retention.resultRecord,
        Self.isGone({
          try folders.status(of: result.target, in: OutboxFolder(path: outbox.path, handle: outbox).job(result.job))
        })
      else { return nil }
      return .output(job: result.job, target: result.target, identity: result.identity)
    }
  }

  /// Examines rows of a table, page by page.
  /// - Parameters:
  ///   - last: The row after which to continue; empty again at the end of the table.
  ///   - count: The number of rows to examine. Receives the number that is left when the time is over.
  ///   - record: The record to remove for a row; nil when the row is kept.
  private func examine<T>(
    _ last: inout Row, _ count: inout Int, until end: Double, page: (Row, Int) throws -> [T], key: (T) -> Row,
    commit: ([LedgerRecord]) throws -> Void, record: (T) -> LedgerRecord?
  ) throws {
    while count > 0, Clock.monotonicSeconds < end {
      let limit = min(count, Self.pageSize)
      let rows = try page(last, limit)
      try commit(rows.compactMap(record))
      last = rows.count < limit ? Row() : rows.last.map(key) ?? Row()
      count = rows.count < limit ? 0 : count - limit
    }
  }

  /// Whether a file certainly does not exist.
  private static func isGone(_ status: () throws -> FileStatus?) -> Bool {
    do {
      return try status() == nil
    } catch {
      return false
    }
  }

  private func forgetEndedRuns(until end: Double, _ commit: ([LedgerRecord]) throws -> Void) throws {
    guard try ledger.endedRunCount() >= Retention.endedRuns else { return }
    // Files in a parking folder are being moved out of the inbox, or back.
    guard try ParkingFolder.all(in: inbox.folder).folders.isEmpty else { return }
    var sequence: Int? = 0
    while let last = sequence, Clock.monotonicSeconds < end {
      let page = try ledger.endedRuns(after: last, limit: Self.pageSize)
      sequence = page.last?.sequence
      let gone = page.filter { hasNoManifest($0.details) }
      if gone.isEmpty { continue }
      // After a power cut, a file could reappear whose removal was not durable.
      try inbox.folder.sync()
      try commit(gone.map { .endedRun($0.runID) })
    }
  }

  /// Whether a run's manifest is no longer in the inbox.
  private func hasNoManifest(_ details: String) -> Bool {
    guard let manifest = try? JobManifest(text: details) else { return false }
    guard let path = manifest.inboxPath else { return true }
    guard Folder.parent(of: path).isIdentical(to: inbox.path) else { return false }
    return Self.isGone {
      let found = try inbox.folder.status(of: Folder.name(of: path))
      return found.flatMap { ManifestRemoval.isSameFile($0.identity, manifest.identity) ? $0 : nil }
    }
  }

  // MARK: The file

  /// Releases free pages if there are many.
  func shrink(until end: Double) throws {
    var pages = try ledger.pages()
    guard pages.free > Self.freePages, pages.free > pages.total / 4 else { return }
    while pages.free > Self.freePages / 4, Clock.monotonicSeconds < end {
      try ledger.release(pages: min(Self.releasedPages, pages.free - Self.freePages / 4))
      let left = try ledger.pages()
      // A file from an earlier version that could not be shrunk, because it was too large to be rewritten.
      if left.total >= pages.total { return }
      pages = left
    }
  }

  /// Releases all free pages. A file from an earlier version may not shrink.
  private func release(all count: Int) throws {
    for _ in 0...count / Self.releasedPages { try ledger.release(pages: Self.releasedPages) }
  }

  // MARK: All at once

  /// What `collect` has found.
  struct Collected: Equatable {
    var results = 0
    var lastRuns = 0
    var endedRuns = 0
    var pages = Ledger.Pages()
  }

  /// Examines all records now, removes those that no run needs, and shrinks the file.
  /// - Parameter isDryRun: Whether they are only counted.
  /// - Throws: `SQLiteError`, `LedgerError`, `SystemError`.
  func collect(isDryRun: Bool) throws -> Collected {
    var found = Collected()
    let commit = { (records: [LedgerRecord]) in
      for record in records {
        switch record {
        case .output: found.results += 1
        case .lastRun: found.lastRuns += 1
        case .endedRun: found.endedRuns += 1
        // Those are removed when they have been done.
        case .notice: break
        }
      }
      if !isDryRun { try ledger.commit(records.map { .forget($0) }) }
    }
    if !isDryRun { while try removeEntries(until: .infinity) {} }
    var (due, position) = (Due(results: .max, lastRuns: .max), Position())
    try examine(&due, &position, until: .infinity, commit)
    found.pages = try ledger.pages()
    if !isDryRun { try release(all: found.pages.free) }
    return found
  }
}
