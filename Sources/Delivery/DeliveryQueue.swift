import Database
import Foundation
import Ledger
import Model
import Scheduling
import Synchronization
import System

/// Brings everything that must be durable to the outbox and into the ledger, in batches, whatever its job: all that comes
/// while a batch is under way shares the syncs and the commits of the next.
///
/// A file's way: synced in staging, staging synced, intent committed, renamed, its folder synced, its end committed. So under
/// a final name there is only ever a complete file that is on disk.
package final class DeliveryQueue: Sendable {
  /// Batches begin at least this far apart, so that many small results share their syncs and commits.
  static let spacing = Duration.milliseconds(50)

  /// The same while a job waits for the batch to go on.
  static let urgentSpacing = Duration.milliseconds(5)

  /// What a batch came to.
  package enum Message: Sendable {
    /// These records' rows are durable.
    case committed([Committed])
    /// These records' results could not be brought to the disk, through no fault of theirs: they are to be made again.
    case rejected([PhotoRecord], any Error)
    /// There is no room for the ledger: it is tried again until there is.
    case noSpace
    /// The ledger or a log cannot be written, and is tried again until it can.
    case failing(any Error)
    /// So many records' results are complete and cannot be delivered now, and why, for each run concerned: they are tried
    /// again. Sent when that has changed.
    case held(count: Int, obstacles: [Int: any Error])
    /// A run's report was delivered, or why it was not.
    case reported(run: Int, Result<ReportDelivery.Outcome, any Error>)
    /// The documents of a run's report, of which nothing is recorded, may not be on disk: they are to be written again.
    case unstaged(run: Int, any Error)
    /// Rows are durable, and could not be added to a run's `entries.jsonl`.
    case unlogged(run: Int, any Error)
    /// The program cannot go on; nothing is delivered any more. Sent for each batch from then on.
    case broken(any Error)
  }

  /// A record whose row is durable.
  package struct Committed: Sendable {
    package let record: PhotoRecord
    package let row: ReportRow

    /// The row as JSON.
    package let text: String

    package init(record: PhotoRecord, row: ReportRow, text: String) {
      self.record = record
      self.row = row
      self.text = text
    }
  }

  /// What waits for the next batch.
  struct Batch: Sendable {
    var records: [PhotoRecord] = []
    var reports: [ReportDelivery] = []
    var acceptances: [Acceptance] = []
    /// Changes that need no batch of their own, before all others.
    var changes: [LedgerChange] = []
    /// Folders that have a new name in them, and are to be synced before what lies beneath them counts as delivered.
    var folders: Set<String> = []
    /// What earlier batches could not place.
    var held: [ResultBatch.Item] = []
    /// Whether logs are to be written that could not be before.
    var flushesLogs = false

    var isEmpty: Bool {
      records.isEmpty && reports.isEmpty && acceptances.isEmpty && changes.isEmpty && folders.isEmpty && held.isEmpty
        && !flushesLogs
    }
  }

  /// A job whose snapshot is on disk, to be recorded.
  struct Acceptance: Sendable {
    let changes: [LedgerChange]
    /// Called on the queue's thread. Only the first call counts.
    let completion: @Sendable (Result<Void, any Error>) -> Void
  }

  private struct Waiting {
    var batch = Batch()
    var isScheduled = false
    var isUrgentlyScheduled = false
    var lastBatch: ContinuousClock.Instant?
  }

  /// What could not be delivered, and is tried again.
  struct Held: Sendable {
    var items: [ResultBatch.Item] = []
    /// Folders that could not be synced.
    var folders: Set<String> = []
    var hasLogs = false
    /// How often it was tried in a row without success.
    var attempts = 0
    var due: ContinuousClock.Instant?
    /// How many records, folders and logs it was said to be.
    var told = 0

    var isEmpty: Bool { items.isEmpty && folders.isEmpty && !hasLogs }
  }

  let outbox: OutboxFolder
  let staging: String
  let state: StateFolder
  let ledger: Ledger
  let resultsCommitted: @Sendable () -> Void
  let send: @Sendable (Message) -> Void
  let logs = EntriesLogs()
  private let waiting = Mutex(Waiting())
  let held = Mutex(Held())
  private let abandoned = DispatchSemaphore(value: 0)

  /// Why a batch broke off: from then on nothing is delivered, because what comes later counts on what came before.
  private let failure = Mutex<(any Error)?>(nil)
  private let queue = DispatchQueue(label: "Delivery")

  /// - Parameters:
  ///   - outbox: In which results and reports get their names.
  ///   - staging: The folder in which results and reports are written.
  ///   - resultsCommitted: Called on the queue's thread when the rows of results are durable.
  ///   - send: Called on the queue's thread.
  package init(
    outbox: OutboxFolder, staging: String, state: StateFolder, ledger: Ledger,
    resultsCommitted: @escaping @Sendable () -> Void, send: @escaping @Sendable (Message) -> Void
  ) {
    self.outbox = outbox
    self.staging = staging
    self.state = state
    self.ledger = ledger
    self.resultsCommitted = resultsCommitted
    self.send = send
  }

  // MARK: Submitting

  /// Submits a terminal record.
  /// - Parameter isUrgent: Whether a job waits for it.
  package func deliver(_ record: PhotoRecord, isUrgent: Bool) {
    add(isUrgent: isUrgent) { $0.records.append(record) }
  }

  /// Submits the documents of a run all of whose rows are durable.
  package func deliver(_ report: ReportDelivery) { add(isUrgent: true) { $0.reports.append(report) } }

  /// Records a job whose snapshot is on disk, and waits until that is durable.
  /// - Parameter pauses: Those that hold.
  /// - Throws: `SQLiteError`, `SystemError`.
  package func accept(_ job: LedgerJob, during pauses: [LedgerPause]) throws {
    let isDone = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Void, any Error>?>(nil)
    let changes = [LedgerChange.accept(job)] + pauses.map { .pause($0, run: job.runID) }
    let acceptance = Acceptance(changes: changes) { answer in
      // What is durable stays accepted, whatever goes wrong with the rest of the batch.
      result.withLock { $0 = $0 ?? answer }
      isDone.signal()
    }
    accept(acceptance)
    isDone.wait()
    try result.withLock { $0 }?.get()
  }

  /// Submits a job whose snapshot is on disk.
  func accept(_ acceptance: Acceptance) { add(isUrgent: true) { $0.acceptances.append(acceptance) } }

  /// Records changes with the next batch, before what is submitted later.
  package func record(_ changes: [LedgerChange], syncing folders: [String] = []) {
    guard !changes.isEmpty || !folders.isEmpty else { return }
    add(isUrgent: false) {
      $0.changes += changes
      $0.folders.formUnion(folders)
    }
  }

  /// Waits until everything that was submitted has been delivered, or was given up.
  package func drain() {
    queue.sync { deliverBatch() }
  }

  /// Stops waiting for room: the program is to end.
  package func abandon() { abandoned.signal() }

  /// Forgets a run all of whose deliveries have ended.
  package func forget(run: Int) { logs.close(run) }

  /// Closes the log of a run for which nothing is to be delivered for a while.
  package func rest(run: Int) { logs.rest(run) }

  private func add(isUrgent: Bool, _ body: (inout Batch) -> Void) {
    let delay: Duration? = waiting.withLock { waiting in
      body(&waiting.batch)
      guard isUrgent ? !waiting.isUrgentlyScheduled : !waiting.isScheduled else { return nil }
      waiting.isScheduled = true
      if isUrgent { waiting.isUrgentlyScheduled = true }
      let spacing = isUrgent ? Self.urgentSpacing : Self.spacing
      return waiting.lastBatch.map { max(.zero, spacing - $0.duration(to: .now)) } ?? .zero
    }
    guard let delay else { return }
    queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.milliseconds * 1000))) { self.deliverBatch() }
  }

  private func deliverBatch() {
    var batch = waiting.withLock { waiting in
      let batch = waiting.batch
      waiting = Waiting(lastBatch: .now)
      return batch
    }
    held.withLock { held in
      guard let due = held.due, due <= .now else { return }
      (batch.held, batch.flushesLogs) = (held.items, held.hasLogs)
      batch.folders.formUnion(held.folders)
      held = Held(attempts: held.attempts, told: held.told)
    }
    guard !batch.isEmpty else { return }
    do {
      if let failure = failure.withLock({ $0 }) { throw failure }
      try deliver(batch)
    } catch {
      failure.withLock { $0 = error }
      for acceptance in batch.acceptances { acceptance.completion(.failure(error)) }
      send(.broken(error))
    }
  }

  /// Makes changes and syncs folders with the next batch, which nothing asks for.
  func putBack(_ changes: [LedgerChange], _ folders: Set<String>) {
    waiting.withLock { waiting in
      waiting.batch.changes = changes + waiting.batch.changes
      waiting.batch.folders.formUnion(folders)
    }
  }

  /// Tries what could not be delivered again after a while.
  /// - Parameter wasTried: Whether it had been held before.
  func hold(_ items: [ResultBatch.Item], unsynced: Set<String>, wasTried: Bool) {
    let logs = logs.waiting
    let (message, delay): (Message?, Duration?) = held.withLock { held in
      held.items += items
      held.folders.formUnion(unsynced)
      held.hasLogs = !logs.isEmpty
      guard !held.isEmpty else {
        defer { held = Held() }
        return (held.told > 0 ? .held(count: 0, obstacles: [:]) : nil, nil)
      }
      var obstacles: [Int: any Error] = logs
      for item in held.items { obstacles[item.record.run.number] = item.obstacle }
      let count = held.items.count + held.folders.count + logs.count
      let hasChanged = held.told != count || wasTried
      held.told = count
      var delay: Duration?
      if held.due == nil {
        held.attempts += 1
        let wait = Duration.seconds(LocalBackoff.seconds(attempts: held.attempts))
        (held.due, delay) = (.now + wait, wait)
      }
      return (hasChanged ? .held(count: held.items.count, obstacles: obstacles) : nil, delay)
    }
    if let message { send(message) }
    guard let delay else { return }
    queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.milliseconds * 1000) + 1000)) { self.deliverBatch() }
  }

  /// Does something again and again while the machine fails it.
  /// - Parameter isAwaited: Whether it is done again after such an error, which is thrown otherwise.
  func retrying(after isAwaited: (any Error) -> Bool, _ body: () throws -> Void) throws {
    while true {
      do {
        return try body()
      } catch let error where error.isOfMachine && isAwaited(error) {
        send(error.isOutOfSpace ? .noSpace : .failing(error))
        guard abandoned.wait(timeout: .now() + 1) == .timedOut else {
          // For what waits next.
          abandoned.signal()
          throw error
        }
      }
    }
  }
}
