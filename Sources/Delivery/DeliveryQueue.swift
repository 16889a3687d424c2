import Foundation
import Ledger
import Model
import Scheduling
import Synchronization
import System

/// Makes results and reports durable in the outbox and in the ledger, in batches for all jobs. Everything that is
/// submitted during a batch shares the syncs and commits of the next.
///
/// The steps for a file are: sync the file in staging, sync staging, commit the intent, rename, sync the target's
/// folder, commit the end. Files with final names are therefore always complete and durable.
package final class DeliveryQueue: Sendable {
  /// The least time between batches, so that many small results share syncs and commits.
  static let spacing = Duration.milliseconds(50)

  /// The least time between batches while a job waits for one.
  static let urgentSpacing = Duration.milliseconds(5)

  /// The least time between batches if nothing else will come that could share one.
  private static let noSpacing = Duration.zero

  /// A message about a batch.
  package enum Message: Sendable {
    /// The rows of these records are durable.
    case committed([Committed])
    /// The results of these records could not be synced because the machine failed. They must be made again.
    case rejected([PhotoRecord], any Error)
    /// There is no space for the ledger. The commit is tried again until there is.
    case noSpace
    /// The ledger or a log cannot be written. That is tried again until it succeeds.
    case failing(any Error)
    /// The number of complete results that cannot be delivered now, and what is in their way, by run. The delivery is tried again.
    /// Sent when the number has changed, and after each try.
    case held(count: Int, obstacles: [Int: Obstacle])
    /// A run's report was delivered, or failed with an error.
    case reported(run: Int, Result<ReportDelivery.Outcome, any Error>)
    /// The documents of a run's report may not be durable, and are not recorded. They must be written again.
    case unstaged(run: Int, any Error)
    /// Durable rows could not be added to a run's `entries.jsonl`.
    case logFailed(run: Int, any Error)
    /// The program must stop, and nothing more is delivered. Sent for each batch from then on.
    case broken(any Error)
  }

  /// What is in the way of a run's results, or of its log.
  package struct Obstacle: Sendable {
    /// The error of the result that has waited longest.
    package let error: any Error
    package fileprivate(set) var results = 0
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

  /// The items of the next batch.
  struct Batch: Sendable {
    var records: [PhotoRecord] = []
    /// The records whose sources are delivered before their results.
    var originals: [PhotoRecord] = []
    var reports: [ReportDelivery] = []
    var acceptances: [Acceptance] = []
    /// Changes that wait for the next batch of other items, and come before them.
    var changes: [LedgerChange] = []
    /// Folders to which names were added. They are synced before files beneath them count as delivered.
    var folders: Set<ByteKey> = []
    /// Results that earlier batches could not deliver.
    var held: [ResultBatch.Item] = []
    /// Whether to write rows to logs that could not be written before.
    var flushesLogs = false

    var isEmpty: Bool {
      records.isEmpty && originals.isEmpty && reports.isEmpty && acceptances.isEmpty && changes.isEmpty
        && folders.isEmpty && held.isEmpty
        && !flushesLogs
    }
  }

  /// A job to record, whose snapshot is synced.
  struct Acceptance: Sendable {
    let changes: [LedgerChange]
    /// Called on the queue's thread. Calls after the first have no effect.
    let completion: @Sendable (Result<Void, any Error>) -> Void
  }

  private struct Waiting {
    var batch = Batch()
    /// The least time, since the last batch, after which the next is scheduled; nil when none is.
    var spacing: Duration?
    var lastBatch: ContinuousClock.Instant?
  }

  /// Items that could not be delivered, and are tried again.
  struct Held: Sendable {
    var items: [ResultBatch.Item] = []
    /// Folders that could not be synced.
    var folders: Set<ByteKey> = []
    var hasLogs = false
    /// The number of consecutive failed tries.
    var attempts = 0
    var due: ContinuousClock.Instant?
    /// The number of records, folders and logs in the last message about them.
    var told = 0

    var isEmpty: Bool { items.isEmpty && folders.isEmpty && !hasLogs }
  }

  let outbox: OutboxFolder
  let staging: String
  let state: StateFolder
  let ledger: Ledger
  let resultsCommitted: @Sendable () -> Void
  let send: @Sendable (Message) -> Void
  let logs: EntriesLogs
  private let waiting = Mutex(Waiting())
  let held = Mutex(Held())

  /// The runs whose results fail when they cannot be delivered now.
  let givenUp = Mutex<Set<Int>>([])
  private let abandoned = DispatchSemaphore(value: 0)

  /// The error that stopped the queue. Nothing is delivered after it, because later items depend on earlier ones.
  private let failure = Mutex<(any Error)?>(nil)
  private let queue = DispatchQueue(label: "Delivery")

  /// - Parameters:
  ///   - outbox: The outbox to which results and reports are delivered.
  ///   - staging: The folder in which results and reports are written.
  ///   - syncsLogs: Whether rows in `entries.jsonl` are durable when their results are. Default: when the report is.
  ///   - resultsCommitted: Called on the queue's thread before rows are committed that name the requests of their sources.
  ///   - send: Called on the queue's thread.
  package init(
    outbox: OutboxFolder, staging: String, state: StateFolder, ledger: Ledger, syncsLogs: Bool = false,
    resultsCommitted: @escaping @Sendable () -> Void, send: @escaping @Sendable (Message) -> Void
  ) {
    self.outbox = outbox
    self.staging = staging
    self.state = state
    self.ledger = ledger
    logs = EntriesLogs(isSynced: syncsLogs)
    self.resultsCommitted = resultsCommitted
    self.send = send
  }

  // MARK: Submitting

  /// Submits a terminal record.
  /// - Parameter isUrgent: Whether a job waits for it.
  package func deliver(_ record: PhotoRecord, isUrgent: Bool) {
    add(after: isUrgent ? Self.urgentSpacing : Self.spacing) { $0.records.append(record) }
  }

  /// Submits the staged source of a record that has not ended.
  package func deliver(originalOf record: PhotoRecord) { add(after: Self.spacing) { $0.originals.append(record) } }

  /// Submits the documents of a run whose rows are all durable.
  /// - Parameter isAlone: Whether nothing else will come that could share the batch. Default: no.
  package func deliver(_ report: ReportDelivery, isAlone: Bool = false) {
    add(after: isAlone ? Self.noSpacing : Self.urgentSpacing) { $0.reports.append(report) }
  }

  /// Records a job whose snapshot is synced, and waits until the record is durable.
  /// - Parameter pauses: The current pauses.
  /// - Throws: `SQLiteError`, `SystemError`.
  package func accept(_ job: LedgerJob, during pauses: [LedgerPause]) throws {
    let isDone = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Void, any Error>?>(nil)
    let changes = [LedgerChange.accept(job)] + pauses.map { .pause($0, run: job.runID) }
    let acceptance = Acceptance(changes: changes) { answer in
      // A durable job stays accepted, even if the rest of the batch fails.
      result.withLock { $0 = $0 ?? answer }
      isDone.signal()
    }
    accept(acceptance)
    isDone.wait()
    try result.withLock { $0 }?.get()
  }

  /// Submits a job whose snapshot is synced.
  func accept(_ acceptance: Acceptance) { add(after: Self.urgentSpacing) { $0.acceptances.append(acceptance) } }

  /// Records changes with the next batch, before items that are submitted later.
  package func record(_ changes: [LedgerChange], syncing folders: [String] = []) {
    guard !changes.isEmpty || !folders.isEmpty else { return }
    add(after: Self.spacing) {
      $0.changes += changes
      $0.folders.formUnion(folders.map(ByteKey.init))
    }
  }

  /// Delivers what was submitted, as one batch, and waits for it. What is held stays so.
  /// - Parameter seconds: How long to wait for the machine, before `abandon`. Default: as long as it takes.
  package func drain(within seconds: Double = .infinity) {
    // Kept until its time, also when it is cancelled, so that it must not keep the queue.
    let end = DispatchWorkItem { [abandoned] in abandoned.signal() }
    if seconds.isFinite { DispatchQueue.global().asyncAfter(deadline: .now() + max(0, seconds), execute: end) }
    queue.sync { deliverBatch() }
    end.cancel()
  }

  /// Stops waiting for the machine, since the program must end.
  package func abandon() { abandoned.signal() }

  /// Delivers what a run has now, since it was cancelled: results that cannot be delivered for want of permission, say, fail.
  package func giveUp(run: Int) {
    givenUp.withLock { _ = $0.insert(run) }
    queue.async { [self] in
      held.withLock { held in
        if held.items.contains(where: { $0.record.run.number == run }) { held.due = .now }
      }
      deliverBatch()
    }
  }

  /// Releases the resources of a run whose deliveries have all ended.
  package func forget(run: Int) {
    logs.close(run)
    givenUp.withLock { _ = $0.remove(run) }
  }

  /// Closes the log of a run that will not deliver anything for a while.
  package func rest(run: Int) { logs.rest(run) }

  /// Starts the next batch soon: nothing else is in progress that could share the batch.
  /// - Parameter isAlone: Whether nothing else will come, either. Default: no.
  package func deliverSoon(isAlone: Bool = false) { add(after: isAlone ? Self.noSpacing : Self.urgentSpacing) { _ in } }

  /// Whether the next batch is due after `urgentSpacing` or earlier.
  var isDueSoon: Bool { waiting.withLock { $0.spacing.map { $0 <= Self.urgentSpacing } == true } }

  /// Whether the next batch is due at once.
  var isAlone: Bool { waiting.withLock { $0.spacing == Self.noSpacing } }

  private func add(after spacing: Duration, _ body: (inout Batch) -> Void) {
    let delay: Duration? = waiting.withLock { waiting in
      body(&waiting.batch)
      guard !waiting.batch.isEmpty, waiting.spacing.map({ spacing < $0 }) != false else { return nil }
      waiting.spacing = spacing
      return waiting.lastBatch.map { max(.zero, spacing - $0.duration(to: .now)) } ?? .zero
    }
    guard let delay else { return }
    queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.milliseconds * 1000))) { [weak self] in
      self?.deliverBatch()
    }
  }

  private func deliverBatch() {
    var batch = waiting.withLock { waiting in
      let batch = waiting.batch
      // A timer of a batch that has been delivered sooner finds nothing.
      waiting = Waiting(lastBatch: batch.isEmpty ? waiting.lastBatch : .now)
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

  /// Adds changes and folders to the next batch without scheduling it.
  func putBack(_ changes: [LedgerChange], _ folders: Set<ByteKey>) {
    waiting.withLock { waiting in
      waiting.batch.changes = changes + waiting.batch.changes
      waiting.batch.folders.formUnion(folders)
    }
  }

  /// Schedules another try for items that could not be delivered.
  /// - Parameter wasTried: Whether they had been held before.
  func hold(_ items: [ResultBatch.Item], unsynced: Set<ByteKey>, wasTried: Bool) {
    let logs = logs.waiting
    let (message, delay): (Message?, Duration?) = held.withLock { held in
      held.items += items
      held.folders.formUnion(unsynced)
      held.hasLogs = !logs.isEmpty
      guard !held.isEmpty else {
        defer { held = Held() }
        return (held.told > 0 ? .held(count: 0, obstacles: [:]) : nil, nil)
      }
      var obstacles = logs.mapValues { Obstacle(error: $0) }
      for item in held.items {
        let run = item.record.run.number
        if let error = item.obstacle, obstacles[run].map({ $0.results == 0 }) ?? true {
          obstacles[run] = Obstacle(error: error)
        }
        obstacles[run]?.results += 1
      }
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
    queue.asyncAfter(deadline: .now() + .microseconds(Int(delay.milliseconds * 1000) + 1000)) { [weak self] in
      self?.deliverBatch()
    }
  }

  /// Repeats an action while it fails because of the machine.
  /// - Parameter isAwaited: Whether to repeat the action after this error. Other errors are thrown.
  func retrying(after isAwaited: (any Error) -> Bool, _ body: () throws -> Void) throws {
    while true {
      do {
        return try body()
      } catch let error where error.isOfMachine && isAwaited(error) {
        send(error.isOutOfSpace ? .noSpace : .failing(error))
        guard abandoned.wait(timeout: .now() + 1) == .timedOut else {
          // The next waiting action must stop too.
          abandoned.signal()
          throw error
        }
      }
    }
  }
}
