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

  /// From so many files on, it is cheaper to have the whole file system written before each is synced: with 25 files of
  /// 80 kB on ext4, 0.02 ms of CPU and 0.2 ms a file instead of 0.2 and 0.8.
  static let wholeSyncThreshold = 5

  private struct Waiting {
    var records: [PhotoRecord] = []
    var isScheduled = false
    var lastBatch: ContinuousClock.Instant?
  }

  private let job: JobFolder
  private let runID: String
  private let staging: Staging
  private let ledger: Ledger
  private let log: OpenFile
  private let settled: @Sendable ([PhotoRecord]) -> Void
  private let failed: @Sendable (any Error) -> Void
  private let waiting = Mutex(Waiting())
  private let queue = DispatchQueue(label: "Courier")

  /// - Parameter settled: Called with records whose rows are durable.
  /// - Parameter failed: Called when the ledger or the outbox fails: the program cannot go on.
  init(
    job: JobFolder, staging: Staging, ledger: Ledger, settled: @escaping @Sendable ([PhotoRecord]) -> Void,
    failed: @escaping @Sendable (any Error) -> Void
  ) throws {
    self.job = job
    runID = staging.runID
    self.staging = staging
    self.ledger = ledger
    self.settled = settled
    self.failed = failed
    log = try OpenFile(appending: job.entriesLog)
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

  private func deliverBatch() {
    let batch = waiting.withLock { waiting in
      defer { waiting = Waiting(lastBatch: .now) }
      return waiting.records
    }
    guard !batch.isEmpty else { return }
    do {
      try deliver(batch)
      settled(batch)
    } catch {
      failed(error)
    }
  }

  private func deliver(_ batch: [PhotoRecord]) throws {
    if batch.count >= Self.wholeSyncThreshold { Folder.startSyncingAll(staging.folder) }
    for record in batch {
      sync(record)
      try prepareFolder(of: record)
    }
    try Folder.sync(staging.folder)
    var entries = batch.map(\.ledgerEntry)
    try ledger.intend(entries.filter { $0.delivery != nil }, run: runID)
    var folders: Set<String> = []
    for (position, record) in batch.enumerated() where record.delivery != nil {
      if let folder = place(record) { folders.insert(folder) } else { entries[position] = record.ledgerEntry }
    }
    for folder in folders { try Folder.sync(folder) }
    try ledger.finish(entries, run: runID, job: job.name)
    try log.write(entries.map { $0.row + "\n" }.joined())
  }

  /// Brings a result's bytes to the disk. A failed sync is not tried again: the entry fails.
  private func sync(_ record: PhotoRecord) {
    guard let result = record.snapshot.result else { return }
    do {
      try result.file.sync()
    } catch {
      staging.remove(result.staged)
      record.fail(EntryFailure(error))
    }
  }

  private func prepareFolder(of record: PhotoRecord) throws {
    guard let delivery = record.delivery else { return }
    do {
      for above in try Folder.create(Folder.parent(of: job.file(delivery.target))) { try Folder.sync(above) }
    } catch  where error.code == ENOTDIR || error.code == EEXIST {
      staging.remove(delivery.staged)
      record.fail(.conflict("the folder of \(delivery.target) cannot be made: a file has its name"))
    } catch {
      staging.remove(delivery.staged)
      record.fail(EntryFailure(error))
    }
  }

  /// - Returns: The folder that has a new name in it.
  private func place(_ record: PhotoRecord) -> String? {
    guard let delivery = record.delivery else { return nil }
    do {
      switch try Placement(folder: job, staging: staging, ledger: ledger).place(delivery) {
      case .placed: return Folder.parent(of: job.file(delivery.target))
      case .conflict(let message): record.fail(.conflict(message))
      }
    } catch let error as SystemError {
      record.fail(EntryFailure(error))
    } catch {
      record.fail(EntryFailure(stage: .outbox, code: "io", message: "\(error)"))
    }
    staging.remove(delivery.staged)
    return nil
  }
}

extension EntryFailure {
  /// A final name that is taken by something that is not ours.
  static func conflict(_ message: String) -> EntryFailure {
    EntryFailure(stage: .outbox, code: "name-conflict", message: message)
  }
}
