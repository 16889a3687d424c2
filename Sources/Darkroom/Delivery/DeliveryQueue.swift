import Database
import Foundation
import Ledger
import Synchronization
import System

/// Brings everything that must be durable to the outbox and into the ledger, in batches, whatever its job: all that comes
/// while a batch is under way shares the syncs and the commits of the next.
///
/// A file's way: synced in staging, staging synced, intent committed, renamed, its folder synced, its end committed. So under
/// a final name there is only ever a complete file that is on disk.
final class DeliveryQueue: Sendable {
  /// Batches begin at least this far apart, so that many small results share their syncs and commits.
  static let spacing = Duration.milliseconds(50)

  /// The same while a job waits for the batch to go on.
  static let urgentSpacing = Duration.milliseconds(5)

  /// What a batch came to.
  enum Message: Sendable {
    /// These records' rows are durable.
    case committed([Committed])
    /// There was no room for these records' results.
    case rejected([PhotoRecord])
    /// There is no room for the ledger: it is tried again until there is.
    case noSpace
    /// A run's report was delivered, or why it was not.
    case reported(run: Int, Result<ReportDelivery.Outcome, any Error>)
    /// Rows are durable, and could not be added to a run's `entries.jsonl`.
    case unlogged(run: Int, any Error)
    /// The program cannot go on.
    case broken(any Error)
  }

  /// A record whose row is durable.
  struct Committed: Sendable {
    let record: PhotoRecord
    let row: ReportRow

    /// The row as JSON.
    let text: String
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

    var isEmpty: Bool {
      records.isEmpty && reports.isEmpty && acceptances.isEmpty && changes.isEmpty && folders.isEmpty
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

  private let staging: String
  private let state: StateFolder
  private let ledger: Ledger
  private let cache: DownloadCache
  private let send: @Sendable (Message) -> Void
  private let logs = EntriesLogs()
  private let waiting = Mutex(Waiting())
  private let abandoned = DispatchSemaphore(value: 0)
  private let queue = DispatchQueue(label: "Delivery")

  /// - Parameters:
  ///   - staging: The folder in which results and reports are written.
  ///   - cache: What is to know the sources of what is delivered.
  ///   - send: Called on the queue's thread.
  init(
    staging: String, state: StateFolder, ledger: Ledger, cache: DownloadCache,
    send: @escaping @Sendable (Message) -> Void
  ) {
    self.staging = staging
    self.state = state
    self.ledger = ledger
    self.cache = cache
    self.send = send
  }

  // MARK: Submitting

  /// Submits a terminal record.
  /// - Parameter isUrgent: Whether a job waits for it.
  func deliver(_ record: PhotoRecord, isUrgent: Bool) {
    add(isUrgent: isUrgent) { $0.records.append(record) }
  }

  /// Submits the documents of a run all of whose rows are durable.
  func deliver(_ report: ReportDelivery) { add(isUrgent: true) { $0.reports.append(report) } }

  /// Records a job whose snapshot is on disk, and waits until that is durable.
  /// - Parameter pauses: Those that hold.
  /// - Throws: `SQLiteError`, `SystemError`.
  func accept(_ job: LedgerJob, during pauses: [LedgerPause]) throws {
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
  func record(_ changes: [LedgerChange], syncing folders: [String] = []) {
    guard !changes.isEmpty || !folders.isEmpty else { return }
    add(isUrgent: false) {
      $0.changes += changes
      $0.folders.formUnion(folders)
    }
  }

  /// Waits until everything that was submitted has been delivered, or was given up.
  func drain() {
    queue.sync { deliverBatch() }
  }

  /// Stops waiting for room: the program is to end.
  func abandon() { abandoned.signal() }

  /// Forgets a run all of whose deliveries have ended.
  func forget(run: Int) { logs.close(run) }

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
    let batch = waiting.withLock { waiting in
      let batch = waiting.batch
      waiting = Waiting(lastBatch: .now)
      return batch
    }
    guard !batch.isEmpty else { return }
    do {
      try deliver(batch)
    } catch {
      for acceptance in batch.acceptances { acceptance.completion(.failure(error)) }
      send(.broken(error))
    }
  }

  // MARK: A batch

  private func deliver(_ batch: Batch) throws {
    var folders = batch.folders
    var results = ResultBatch(batch.records, ledger: ledger)
    let (prepared, unfit) = results.prepare()
    folders.formUnion(prepared)
    if !unfit.isEmpty { send(.rejected(unfit)) }
    if !batch.acceptances.isEmpty { try Folder.sync(state.jobs) }
    if !results.isEmpty || !batch.reports.isEmpty { try Folder.sync(staging) }
    // Before rows say who has brought a source.
    if !results.isEmpty { cache.commit() }
    let changes =
      batch.changes + batch.acceptances.flatMap(\.changes) + results.intents + batch.reports.map(\.intent)
    do {
      try ledger.commit(changes)
    } catch let error as SQLiteError where error.isOutOfSpace {
      return reject(batch, results, folders, error)
    }
    for acceptance in batch.acceptances { acceptance.completion(.success(())) }
    folders.formUnion(results.place())
    let reports = batch.reports.map { report in (report, Result { try report.place() }) }
    for (report, placed) in reports { if case .success = placed { folders.formUnion(report.folders) } }
    // Whoever waits for the results may have taken a folder away already.
    for folder in folders { try Folder.syncIfThere(folder) }
    let outcomes = reports.map { report, placed in (report, placed.map { report.removeManifest() }) }
    let ended = outcomes.flatMap { report, outcome in (try? outcome.get()) == nil ? [] : report.ends }
    try waitingForRoom { try ledger.commit(results.ends + ended) }
    results.removeUnplaced()
    let committed = results.committed
    for rows in Dictionary(grouping: committed, by: \.record.run.number).values {
      try append(rows)
    }
    if !results.isEmpty { send(.committed(committed)) }
    for (report, outcome) in outcomes {
      if (try? outcome.get()) != nil {
        state.remove(report.run.runID, extension: report.manifest.fileExtension)
      }
      send(.reported(run: report.run.number, outcome))
    }
  }

  /// Adds rows that are durable to their run's log. What goes wrong but for want of space is only that run's.
  private func append(_ rows: [Committed]) throws {
    do {
      try waitingForRoom { try logs.append(rows) }
    } catch let error as SystemError where !error.isOutOfSpace {
      send(.unlogged(run: rows.first?.record.run.number ?? 0, error))
    }
  }

  /// There was no room for the intents: nothing of the batch has happened.
  /// - Parameter folders: Those that have a new name in them.
  private func reject(_ batch: Batch, _ results: ResultBatch, _ folders: Set<String>, _ error: SQLiteError) {
    for acceptance in batch.acceptances { acceptance.completion(.failure(error)) }
    results.removeStaged()
    if !results.isEmpty { send(.rejected(results.records)) }
    for report in batch.reports { send(.reported(run: report.run.number, .failure(error))) }
    waiting.withLock { waiting in
      waiting.batch.changes = batch.changes + waiting.batch.changes
      waiting.batch.folders.formUnion(folders)
    }
  }

  /// Does something again and again while there is no room for it.
  private func waitingForRoom(_ body: () throws -> Void) throws {
    while true {
      do {
        return try body()
      } catch let error as any OutOfSpaceError where error.isOutOfSpace {
        send(.noSpace)
        guard abandoned.wait(timeout: .now() + 1) == .timedOut else {
          // For what waits next.
          abandoned.signal()
          throw error
        }
      }
    }
  }
}
