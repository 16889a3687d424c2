import Delivery
import JobIndex
import Ledger
import Model
import Operations
import System
import Transfer

/// The entries of live runs, from their start to their durable rows: chooses the next entry, fills the two queues,
/// handles ended entries, and counts deliveries. Used on the thread of `Darkroom`.
final class EntryFlow {
  let scheduler = EntryScheduler()
  let pending: PendingOperations
  let delivery: DeliveryQueue
  let suspension: Suspension
  let state: StateFolder
  let observe: (Event) -> Void

  /// The planned runs that have not ended, by number.
  private(set) var runs: [Int: RunEntries] = [:]

  /// Decides which operations may start now.
  var gate = Gate()

  /// The number of records that are being delivered.
  var undelivered = 0

  /// The number of these whose results cannot be delivered now.
  var held = 0

  /// Entries that fail because their dependencies failed.
  var dependents = FailingDependents()

  /// The current holds.
  var holds = Holds()

  /// The runs with unreadable indexes, and the errors.
  var unreadable: [Int: any Error] = [:]

  /// Whether more entries may fail without a request: entries of closed hosts that have an open mirror, and of hosts
  /// that were given up. Their number per round is limited.
  private var hasMoreToFail = false

  /// The records of lists whose operations have ended for good, until the caller takes them.
  private var endedSources: [PhotoRecord] = []

  init(
    pending: PendingOperations, delivery: DeliveryQueue, suspension: Suspension, state: StateFolder,
    observe: @escaping (Event) -> Void
  ) {
    (self.pending, self.delivery, self.suspension, self.state) = (pending, delivery, suspension, state)
    self.observe = observe
  }

  // MARK: Runs

  /// Adds a run, whose entries may then start.
  /// - Parameter transfers: The requests that were sent for it before.
  func add(_ run: Int, _ entries: RunEntries, transfers: Transfers) {
    let plan = entries.plan
    scheduler.add(
      run: run, plan.index, deferred: plan.start.deferred, dependencies: plan.start.dependencies,
      heldVariants: plan.start.heldVariants, transfers: transfers)
    // The scheduler has them now.
    entries.plan.start = Plan.Start()
    runs[run] = entries
  }

  /// Removes a run without operations in progress.
  func remove(_ run: Int) {
    scheduler.remove(run: run)
    runs[run] = nil
    holds.releaseEntries(of: run)
    unreadable[run] = nil
    dependents.remove(run: run)
  }

  /// Begins to stop: cancels entries that wait.
  func stop() {
    scheduler.dropPartials()
    pending.cancelWaiting()
    // Cancelled operations only finish in a running queue.
    pending.resumeAll()
  }

  /// Removes and returns the records of lists whose operations have ended for good.
  func takeEndedSources() -> [PhotoRecord] {
    defer { endedSources = [] }
    return endedSources
  }

  /// Records that the operations of a list have ended for good.
  func endSource(_ record: PhotoRecord) {
    scheduler.finished(record.id, now: Clock.monotonicMilliseconds)
    holds.release(.entry(record.id))
    endedSources.append(record)
  }

  // MARK: Starting

  /// Whether the gate lets an entry start.
  private var isOpen: Bool { gate.entries == .all || gate.entries == .one && pending.inProgress.isEmpty }

  /// Whether an entry may start, and there is space on the disk for it. To be asked last: it looks at the disk.
  var mayStart: Bool {
    isOpen && !holds.isFull(now: Clock.monotonicSeconds)
      && suspension.space.hasRoom(
        besides: pending.inProgress.count + holders, now: Clock.monotonicMilliseconds)
  }

  /// When another entry may start, in milliseconds of the monotonic clock; nil when that does not depend on the time.
  /// May be in the past if `admit` has not been called since.
  var nextStart: Int? {
    guard endedSources.isEmpty else { return 0 }
    if hasMoreToFail, mayStart { return 0 }
    guard pending.lowestPriorityWithRoom(besides: holders) != nil, mayStart else { return nil }
    let change = scheduler.nextChange
    return dependents.due.map { min(change ?? .max, $0) } ?? change
  }

  /// The number of entries that hold files without being in a queue.
  var holders: Int { undelivered - held - dependents.inDelivery.count }

  /// Starts entries while there is room.
  /// - Parameter hasOthers: Whether jobs are waiting, being planned or being reported.
  func admit(now: Double, _ configuration: Configuration, cache: DownloadCache?, hasOthers: Bool) {
    // Done even if no entry may start, since the loop wakes up when it is due.
    for record in pending.findSlowDownloads(now: Clock.monotonicMilliseconds) { scheduler.downloadIsSlow(record.id) }
    defer {
      pending.addToQueues()
      pending.checkFiles()
    }
    // Only now: while entries start, later results share the batch.
    defer {
      if pending.inProgress.isEmpty, undelivered > held {
        delivery.deliverSoon(isAlone: !hasOthers && runs.values.allSatisfy(\.waitsForDelivery))
      }
    }
    guard isOpen else { return }
    pending.adjustLimits(silent: scheduler.silentDownloads(now: Clock.monotonicMilliseconds))
    admitSuspects(now: now, hasOthers: hasOthers)
    let perHost = configuration.transfer.perHost
    var failed = 0
    while failed < EntryScheduler.roundLimit, let lowest = pending.lowestPriorityWithRoom(besides: holders), mayStart {
      do throws(EntryScheduler.IndexError) {
        let next = try scheduler.next(now: Clock.monotonicMilliseconds, perHost: perHost, lowest: lowest)
        guard let next, let entries = runs[next.run] else { break }
        entries.lastStarted = now
        if try !start(next, entries, configuration, cache) { failed += 1 }
      } catch {
        indexFailed(error)
      }
    }
    pending.room.startedAll()
    hasMoreToFail = failed == EntryScheduler.roundLimit
    if !hasMoreToFail { passOn(configuration) }
    failDependents()
  }

  /// Moves entries of closed hosts to their mirrors.
  private func passOn(_ configuration: Configuration) {
    do throws(EntryScheduler.IndexError) {
      let now = Clock.monotonicMilliseconds
      hasMoreToFail = try scheduler.passOn(now: now) { next throws(EntryScheduler.IndexError) in
        if let entries = runs[next.run] { _ = try start(next, entries, configuration, nil) }
      }
    } catch {
      indexFailed(error)
    }
  }

  /// - Returns: Whether the entry is in the queues. If not, it has failed without a request.
  private func start(
    _ next: EntryScheduler.Next, _ entries: RunEntries, _ configuration: Configuration, _ cache: DownloadCache?
  ) throws(EntryScheduler.IndexError) -> Bool {
    let now = Clock.monotonicMilliseconds
    let (lastFailure, earlier, variants): (LedgerFailure?, EarlierResults?, [Int])
    do throws(EntryScheduler.IndexError) {
      (lastFailure, earlier, variants) = try scheduler.withIndex(of: next.run, now: now) {
        try (
          entries.plan.earlier.hasFailures ? entries.plan.index.failure(next.entry.name) : nil,
          earlierResults(of: next.entry, entries, withOriginals: configuration.keepOriginals),
          scheduler.waitingVariants(for: next.entry, run: next.run)
        )
      }
    } catch {
      scheduler.giveUp(next.id, now: now, backoff: configuration.backoff)
      throw error
    }
    if configuration.entryTimeout != nil { scheduler.startTimer(next.id, now: suspension.activity.now(now)) }
    let left = timeLeft(next.id, configuration)
    let record = PhotoRecord(
      next.entry, run: entries.plan.run, mirror: next.history.mirror, attempts: next.history.attempts,
      settings: HostSettings(next.budget, configuration.transfer, left: left), lastFailure: lastFailure,
      isCutShort: configuration.transfer.isCutShort(left: left, next.budget), partial: next.history.partial,
      earlierMirrors: next.history.mirrorFailures,
      firstTried: next.history.firstTried.map { Clock.wallMilliseconds - (now - $0) },
      needsBytes: next.history.needsBytes,
      inherited: next.inherited, waitingVariants: variants)
    let failureAfterTime = left.flatMap { $0 <= 0 ? next.history.failure : nil }
    if let failure = failureAfterTime ?? next.hostFailure {
      record.fail(failure)
      scheduler.notTried(next.id, now: now, backoff: configuration.backoff)
      decide(on: record, configuration, wasTried: failureAfterTime != nil)
      return false
    }
    let isFile = SourceLocation.origin(of: record.url) == nil
    pending.start(
      record, cache: isFile ? nil : cache, earlier: earlier, reportsBeginning: next.hasInterval,
      reportsAnswer: next.awaitsAnswer, keepingIn: entries.isSource ? state : nil)
    return true
  }

  private func earlierResults(
    of entry: Entry, _ entries: RunEntries, withOriginals: Bool
  ) throws -> EarlierResults? {
    guard entries.plan.earlier.hasOutputs else { return nil }
    let outputs = try EarlierResults.stems(of: entry, withOriginals: withOriginals)
      .flatMap(entries.plan.index.outputs(at:))
    return EarlierResults(folder: entries.plan.run.folder, outputs: outputs)
  }

  // MARK: Delivery

  /// Delivers the row and the result of an entry that has ended.
  func deliver(_ record: PhotoRecord) {
    undelivered += 1
    let entries = runs[record.run.number]
    entries?.undelivered += 1
    delivery.deliver(record, isUrgent: entries?.waitsForDelivery == true)
  }

  /// Handles a message about rows and results.
  func handle(_ message: DeliveryQueue.Message) {
    switch message {
    case .committed(let committed):
      undelivered -= committed.count
      suspension.failures.wroteSomething(now: Clock.monotonicSeconds)
      for item in committed { ended(item.record, item.row) }
    case .rejected(let records, let error):
      undelivered -= records.count
      for record in records { rejected(record, error) }
    case .held(let count, let obstacles): setHeld(count, obstacles)
    case .failing(let error): suspension.failures.fail(error, now: Clock.monotonicSeconds)
    case .noSpace: suspension.waitForSpace(now: Clock.monotonicSeconds)
    case .reported, .unstaged, .logFailed, .broken: break
    }
  }

  private func rejected(_ record: PhotoRecord, _ error: any Error) {
    let entries = runs[record.run.number]
    entries?.undelivered -= 1
    let isDependent = dependents.inDelivery.remove(record.id) != nil
    // An entry of a closing run without a row counts as cancelled.
    if let entries, entries.isClosing { return countAsCancelled(record, entries) }
    let failure = record.failure
    if isDependent {
      dependents.reject(record, now: Clock.monotonicMilliseconds)
      if error.isOutOfSpace { suspension.waitForSpace(now: Clock.monotonicSeconds) }
    } else if failure?.isOfMachine == true ? failure?.disposition == .waitForSpace : error.isOutOfSpace {
      waitForSpace(record)
    } else {
      waitForMachine(record, failure.flatMap { $0.isOfMachine ? $0 : nil } ?? error)
    }
  }

  /// Handles an entry whose row is durable.
  private func ended(_ record: PhotoRecord, _ row: ReportRow) {
    scheduler.finished(record.id, now: Clock.monotonicMilliseconds)
    suspension.space.entryRoom.entryEnded(bytes: row.writtenBytes)
    dependencyEnded(record, row)
    if !holds.isEmpty { holds.release(.entry(record.id)) }
    guard let entries = runs[record.run.number] else { return }
    entries.undelivered -= 1
    entries.tally.add(row, at: record.entry.position)
    entries.plan.sources.add(row)
    restIfDeferred(record.run.number)
    observe(
      .entryEnded(job: record.run.job, row: row, deferred: scheduler.deferred(run: record.run.number).count))
  }

  // MARK: Counting

  /// The number of entries without operations that wait for a slot at their host, for admission, or for another try.
  /// Deferred entries and those that wait for others do not count.
  var unstarted: Int {
    var left = -pending.inProgress.count
    for (run, entries) in runs where !entries.isClosing {
      left += (entries.isSource ? 1 : entries.left - entries.undelivered - scheduler.waitingForOthers(run: run))
      left -= scheduler.deferred(run: run).count
    }
    return max(0, left)
  }
}
