import Foundation
import Ledger
import Synchronization

/// Takes what has ended to the outbox and into the ledger, in batches: all that ended while the last batch was under way
/// shares the syncs and the commits of the next.
///
/// A file's way: synced in staging, staging synced, intent committed, renamed, its folder synced, done committed, a line
/// in `entries.jsonl`. So under a final name there is only ever a complete file that is on disk.
final class Courier: Sendable {
  /// Batches begin at least this far apart, so that many small results share their syncs and commits.
  static let spacing = Duration.milliseconds(50)

  /// A record whose row is durable.
  struct Settled {
    let record: PhotoRecord
    let row: JSONValue
  }

  private struct Waiting {
    var records: [PhotoRecord] = []
    var isScheduled = false
    var lastBatch: ContinuousClock.Instant?
  }

  private let job: JobFolder
  private let runID: String
  private let staging: Staging
  private let ledger: Ledger
  private let cache: DownloadCache?
  private let log: EntriesLog
  private let tell: @Sendable (Darkroom.Message) -> Void
  private let waiting = Mutex(Waiting())
  private let abandoned = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "Courier")

  /// - Parameters:
  ///   - cache: What is to know the sources of what is delivered.
  ///   - tell: Called with `settled` for those that it has delivered, with `refused` for those for whose
  ///   results there was no room, with `full` while there is no room for the ledger, and with `broken` when the program
  ///   cannot go on.
  init(
    job: JobFolder, staging: Staging, ledger: Ledger, cache: DownloadCache?,
    tell: @escaping @Sendable (Darkroom.Message) -> Void
  ) throws {
    self.job = job
    runID = staging.runID
    self.staging = staging
    self.ledger = ledger
    self.cache = cache
    self.tell = tell
    log = try EntriesLog(job.entriesLog)
  }

  /// Hands over a terminal record.
  /// - Parameter isUrgent: Whether there is nothing else under way that could share its batch.
  func submit(_ record: PhotoRecord, isUrgent: Bool) {
    let delay: Duration? = waiting.withLock { waiting in
      waiting.records.append(record)
      if isUrgent { return .zero }
      guard !waiting.isScheduled else { return nil }
      waiting.isScheduled = true
      return waiting.lastBatch.map { max(.zero, Self.spacing - $0.duration(to: .now)) } ?? .zero
    }
    guard let delay else { return }
    queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.milliseconds * 1000))) { self.deliverBatch() }
  }

  /// Waits until everything that was handed over has been delivered.
  func drain() {
    queue.sync {}
  }

  /// No longer waits for room: the program is to end.
  func abandon() { abandoned.signal() }

  private func deliverBatch() {
    let batch = waiting.withLock { waiting in
      defer { waiting = Waiting(lastBatch: .now) }
      return waiting.records
    }
    guard !batch.isEmpty else { return }
    do {
      try deliver(batch)
    } catch {
      tell(.broken(error))
    }
  }

  private func deliver(_ all: [PhotoRecord]) throws {
    DispatchQueue.concurrentPerform(iterations: all.count) { prepare(all[$0]) }
    let batch = all.filter { $0.snapshot.failure?.isOutOfSpace != true }
    if batch.count < all.count { tell(.refused(all.filter { $0.snapshot.failure?.isOutOfSpace == true })) }
    try Folder.sync(staging.folder)
    // Before rows say who has brought a source.
    cache?.settle()
    var rows = batch.map { $0.row() }
    var entries = zip(batch, rows).map { $0.ledgerEntry($1) }
    do {
      try ledger.intend(entries.filter { $0.delivery != nil }, run: runID)
    } catch let error as SQLiteError where error.isOutOfSpace {
      for delivery in entries.compactMap(\.delivery) { staging.remove(delivery.staged) }
      return tell(.refused(batch))
    }
    var folders: Set<String> = []
    var unplaced: [Delivery] = []
    for (position, record) in batch.enumerated() {
      guard let delivery = entries[position].delivery else { continue }
      if place(delivery, of: record) {
        entries[position].delivery?.identity = record.snapshot.result?.identity
        folders.insert(Folder.parent(of: job.file(delivery.target)))
      } else {
        rows[position] = record.row()
        entries[position] = record.ledgerEntry(rows[position])
        unplaced.append(delivery)
      }
    }
    // Whoever waits for the results may have taken a folder away already.
    for folder in folders { try Folder.syncIfThere(folder) }
    try waitingForRoom { try ledger.finish(entries, run: runID, job: job.name) }
    // Not before: an intent whose staged file is gone means that the file was delivered.
    for delivery in unplaced { staging.remove(delivery.staged) }
    try waitingForRoom { try log.append(entries.map(\.row)) }
    tell(.settled(zip(batch, rows).map { Settled(record: $0, row: $1) }))
  }

  /// Does something again and again while there is no room for it.
  private func waitingForRoom(_ body: () throws -> Void) throws {
    while true {
      do {
        return try body()
      } catch let error as any OutOfSpaceError where error.isOutOfSpace {
        tell(.full)
        guard abandoned.wait(timeout: .now() + 1) == .timedOut else { throw error }
      }
    }
  }

  /// Brings a result's bytes to the disk, and makes the folder that it goes to. When that fails the entry does: a failed
  /// sync is not tried again.
  private func prepare(_ record: PhotoRecord) {
    guard let result = record.snapshot.result else { return }
    let target = record.target(of: result)
    do {
      try result.file.sync()
      try Folder.createDurably(Folder.parent(of: job.file(target)))
    } catch {
      let isNameTaken = error.code == ENOTDIR || error.code == EEXIST
      record.fail(
        isNameTaken
          ? .conflict("the folder of \(target) cannot be made: a file has its name") : EntryFailure(error))
      staging.remove(result.staged)
    }
  }

  /// - Returns: Whether the file has its final name now; if not, the record has failed.
  private func place(_ delivery: Delivery, of record: PhotoRecord) -> Bool {
    do {
      switch try Placement(folder: job, staging: staging, ledger: ledger).place(delivery) {
      case .placed: return true
      case .conflict(let message): record.fail(.conflict(message))
      }
    } catch let error as SystemError {
      record.fail(EntryFailure(error).givingUp)
    } catch {
      record.fail(EntryFailure(stage: .outbox, code: "io", message: "\(error)"))
    }
    return false
  }
}

extension EntryFailure {
  /// A final name that is taken by something that is not ours.
  static func conflict(_ message: String) -> EntryFailure {
    EntryFailure(stage: .outbox, code: "name-conflict", message: message)
  }

  /// The same failure, not to be tried again: its intent is in the ledger.
  fileprivate var givingUp: EntryFailure {
    var failure = self
    failure.isOutOfSpace = false
    return failure
  }
}
