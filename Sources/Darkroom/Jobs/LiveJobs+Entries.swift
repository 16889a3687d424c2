import Ledger
import Scheduling
import System
import Transfer

/// An entry's way through the live jobs: admitted, and in the end delivered, put off, or tried again.
extension LiveJobs {
  /// Whether an entry may start, and there is room on the disk for it.
  var mayStart: Bool {
    guard gate.entries == .all || gate.entries == .one && pending.inProgress.isEmpty else { return false }
    return suspension.hasRoom(besides: pending.inProgress.count + holders)
  }

  /// When an entry may start that may not now, or might have since `admit` was last called, in milliseconds of the
  /// monotonic clock; nil when that does not depend on the time.
  var nextStart: Int? {
    guard mayStart, pending.lowestPriorityWithRoom(besides: holders) != nil else { return nil }
    let change = scheduler.nextChange
    return rejectedDependents.isEmpty ? change : min(change ?? .max, rejectedDependentsDue)
  }

  /// How many entries hold files although they are in no queue.
  var holders: Int { undelivered - held - failingDependents.count }

  /// Starts entries while the window has room.
  func admit(now: Double, _ configuration: Configuration, cache: DownloadCache?) {
    planStoppedAgain(now: now)
    // Also while nothing may start: when it is due the loop runs.
    for record in pending.findSlowDownloads(now: Clock.monotonicMilliseconds) { scheduler.downloadIsSlow(record.id) }
    guard mayStart else { return }
    pending.adjustPlaces(silent: scheduler.silentDownloads(now: Clock.monotonicMilliseconds))
    admitSuspects(now: now)
    let perHost = HostPlaces(configuration.transfer.perHost)
    while mayStart, let lowest = pending.lowestPriorityWithRoom(besides: holders) {
      do throws(EntryScheduler.IndexError) {
        let next = try scheduler.next(now: Clock.monotonicMilliseconds, perHost: perHost, lowest: lowest)
        guard let next, let run = runs[next.run], let plan = run.plan else { break }
        run.lastStarted = now
        try start(next, plan, configuration, cache)
      } catch {
        indexFailed(error)
      }
    }
    pending.startedAll()
    failDependents()
  }

  private func start(
    _ next: EntryScheduler.Next, _ plan: Plan, _ configuration: Configuration, _ cache: DownloadCache?
  ) throws(EntryScheduler.IndexError) {
    let now = Clock.monotonicMilliseconds
    let (lastFailure, earlier, variants): (LedgerFailure?, EarlierResults?, [Int])
    do throws(EntryScheduler.IndexError) {
      (lastFailure, earlier, variants) = try scheduler.withIndex(of: next.run, now: now) {
        try (
          plan.hasFailures ? plan.index.failure(next.entry.name) : nil,
          earlierResults(of: next.entry, plan, withOriginals: configuration.keepOriginals),
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
      next.entry, run: plan.run, mirror: next.history.mirror, attempts: next.history.attempts,
      settings: HostSettings(next.budget, configuration.transfer, left: left), lastFailure: lastFailure,
      isCutShort: configuration.transfer.isCutShort(left: left, next.budget), partial: next.history.partial,
      earlierMirrors: next.history.mirrorFailures,
      firstTried: next.history.firstTried.map { Clock.wallMilliseconds - (now - $0) },
      needsBytes: next.history.needsBytes,
      inherited: next.inherited, waitingVariants: variants)
    if let left, left <= 0, let failure = next.history.failure {
      record.fail(failure)
      scheduler.notTried(next.id, now: now, backoff: configuration.backoff)
      return decide(on: record, configuration)
    }
    if let failure = next.hostFailure {
      record.fail(failure)
      scheduler.notTried(next.id, now: now, backoff: configuration.backoff)
      return decide(on: record, configuration, wasTried: false)
    }
    let isFile = SourceLocation.hostName(of: record.url) == nil
    pending.start(
      record, cache: isFile ? nil : cache, earlier: earlier, reportsBeginning: next.hasInterval,
      reportsAnswer: next.awaitsAnswer, keepingIn: plan.source == nil ? nil : planner.state)
  }

  private func earlierResults(of entry: Entry, _ plan: Plan, withOriginals: Bool) throws -> EarlierResults? {
    guard plan.hasOutputs else { return nil }
    let targets = EarlierResults.targets(of: entry) + (withOriginals ? EarlierResults.originals(of: entry) : [])
    let outputs = try targets.compactMap { try plan.index.output($0) }
    return EarlierResults(folder: plan.run.folder, outputs: outputs)
  }

  /// Takes in that an entry's download begins its request, or makes none. What is reported of an earlier try, which has ended
  /// meanwhile, says nothing of the present one.
  /// - Parameter time: When it begins its request; nil when it makes none.
  func downloadBegan(_ record: PhotoRecord, at time: Int?) {
    guard pending.inProgress[record.id]?.download.record === record else { return }
    scheduler.downloadBegan(record.id, at: time)
  }

  /// Takes in that an entry's download has ended: its host has room for another, unless it asked for a hold.
  func downloadEnded(_ record: PhotoRecord, backoff: Backoff) {
    guard pending.inProgress[record.id]?.download.record === record else { return }
    let wasSlow = pending.isSlow(record.id)
    pending.downloadHasEnded(record)
    let portal = takePortalsAnswer(to: record)
    let live = record.snapshot
    if portal == nil, record.entry.firstRow != nil, let source = live.source { startVariants(of: record, source) }
    let wasAnswering = scheduler.breaker(ofHostOf: record.id).responds
    var answer = HostScheduler.Answer(live)
    // The last try of what is refused by itself holds nobody else.
    if case .refused(let asked) = answer, let started = scheduler.started(record.id),
      backoff.isRefusedItself(
        own: started.history.refusals + 1, inRow: scheduler.throttle(ofHostOf: record.id).refusals + 1,
        hasAsked: asked != nil)
    {
      answer = .none
    }
    let hold = scheduler.downloadEnded(
      record.id, live.usage, answer, failure: portal ?? live.failure, now: Clock.monotonicMilliseconds, backoff: backoff
    )
    reportHosts()
    if live.usage.isOwn {
      if live.source != nil { pending.measureSpeed(record.id, bytes: live.usage.bytes) }
      // A host that fails says nothing of how many downloads there may be.
      pending.measureEnd(
        isFailure: wasAnswering && !wasSlow && live.failure?.code.mayComeOfLoad == true,
        isSuspect: scheduler.breaker(ofHostOf: record.id).state != .open)
    }
    guard let hold else { return }
    let host = SourceLocation.hostName(of: record.url) ?? ""
    observe(.hostHeld(host: host, seconds: hold, why: live.failure?.message ?? ""))
  }

  /// Takes in an entry both of whose operations have finished.
  func operationsEnded(_ record: PhotoRecord, _ configuration: Configuration) {
    // Those of a run that was cancelled may end late.
    guard pending.inProgress[record.id]?.download.record === record else { return }
    pending.remove(record)
    decide(on: record, configuration, mayBePortal: checkRedirect(of: record))
  }

  /// Decides what becomes of an entry both of whose operations have finished.
  /// - Parameters:
  ///   - mayBePortal: Whether it was redirected to a place of which it is not known what it is.
  ///   - wasTried: Whether it was asked for; otherwise its host is closed, or was given up.
  func decide(
    on record: PhotoRecord, _ configuration: Configuration, mayBePortal: Bool = false, wasTried: Bool = true
  ) {
    let live = record.snapshot
    let now = Clock.monotonicMilliseconds
    let started = scheduler.started(record.id)
    let entry = EndedEntry(
      state: live.state, failure: live.failure, attempts: live.attempts - scheduler.uncounted(record.id),
      hasMirror: record.hasMirror, throttle: scheduler.throttle(ofHostOf: record.id),
      refusals: (started?.history.refusals ?? 0) + (live.failure?.isHostRefusal == true ? 1 : 0),
      age: started.map { now - $0.firstTried } ?? 0, wasDeferred: started?.key.wasDeferred == true,
      hadRetryableMirrorFailure: started?.history.hadRetryableMirrorFailure == true,
      mayBePortal: mayBePortal,
      mayRepeat: record.entry.request.isCacheable || configuration.backoff.isGiven || !wasSent(record, live),
      timeLeft: timeLeft(record.id, configuration), host: hostState(record, live, wasTried: wasTried),
      isMirrorOpen: record.entry.urls.dropFirst(record.mirror + 1).contains(where: scheduler.isOpen(hostOf:)))
    let isClosing = runs[record.run.number]?.isClosing == true
    let verdict = Verdict(
      on: entry, backoff: configuration.backoff, deferral: configuration.deferral,
      isStopping: isStopping || isClosing, now: now)
    if isClosing, verdict != .deliver || runs[record.run.number]?.plan?.source != nil {
      scheduler.giveUp(record.id, now: now, backoff: configuration.backoff)
      leave(record)
      return
    }
    // Only the next try of the same URL has use for it.
    let partial = record.takePartial()
    switch verdict {
    case .deliver:
      // Those of a page that may have been a portal's have waited.
      if record.entry.firstRow != nil, let source = live.source { startVariants(of: record, source) }
      let refusals = entry.throttle.refusals
      if live.failure?.isHostRefusal == true, refusals > max(configuration.backoff.retries, live.attempts) {
        record.hostRefused(refusals)
      }
      if fetchingEnded(record) { break }
      deliver(record)
    case .hold:
      scheduler.hold(record.id, now: now)
      scheduler.keep(partial, of: record.id)
    case .waitForSpace:
      if holdSource(of: record, live) { break }
      waitForSpace(record)
    case .waitForMachine: waitForMachine(record, live.failure ?? .cache)
    case .restart: scheduler.retry(record.id, attempts: nil, needsBytes: live.state == .failed, due: now, now: now)
    case .leave: break
    case .retry(let seconds):
      scheduler.retry(
        record.id, attempts: live.attempts, isRefused: live.failure?.isHostRefusal == true,
        hasHostFailed: live.failureOfHost != nil, failsByItself: entry.host == .answering,
        due: now + Int((seconds * 1000).rounded(.up)),
        now: now)
      scheduler.keep(partial, of: record.id)
      if configuration.entryTimeout != nil { scheduler.keep(live.failure, of: record.id) }
      reportRetry(record, live, after: seconds)
    case .postpone(let wait): postpone(record, live, wait: wait, now: now)
    case .useMirror:
      let mirror = record.entry.urls[record.mirror + 1]
      do throws(EntryScheduler.IndexError) {
        try scheduler.useMirror(
          record.id, mirror, attempts: live.attempts,
          after: live.failure.map { .init($0, of: SourceLocation.redacted(record.url)) },
          isRetryable: live.failure?.isRetryable == true, now: now)
      } catch {
        scheduler.finished(record.id, now: now)
        return indexFailed(error)
      }
      if configuration.entryTimeout != nil { scheduler.keep(live.failure, of: record.id) }
      reportRetry(record, live, after: 0, mirror: SourceLocation.redacted(mirror))
    }
  }

  private func reportRetry(
    _ record: PhotoRecord, _ live: PhotoRecord.Live, after seconds: Double, mirror: String? = nil
  ) {
    guard let failure = live.failure else { return }
    observe(
      .entryRetry(
        job: record.run.job, name: record.entry.shownName, attempts: live.attempts, seconds: seconds,
        mirror: mirror, error: ReportRow.Failure(failure)))
  }

  /// Has the row and the result of an entry that has ended delivered.
  func deliver(_ record: PhotoRecord) {
    undelivered += 1
    let run = runs[record.run.number]
    run?.undelivered += 1
    delivery.deliver(record, isUrgent: run?.waitsForDelivery == true || pending.inProgress.isEmpty)
  }

  /// Has an entry tried again once there is room for its files.
  private func waitForSpace(_ record: PhotoRecord) {
    let now = Clock.monotonicMilliseconds
    scheduler.retry(record.id, attempts: nil, due: now, now: now)
    // What failed before the last pause was over may be reported only when the queues go on; that says nothing of now.
    let seconds = Clock.monotonicSeconds
    if record.snapshot.failedAt ?? seconds >= suspension.diskFullUntil { suspension.waitForSpace(now: seconds) }
  }

  /// Takes in what the delivery has come to.
  func handle(_ message: DeliveryQueue.Message) throws {
    switch message {
    case .committed(let committed):
      undelivered -= committed.count
      suspension.wroteSomething()
      for item in committed { ended(item.record, item.row) }
    case .rejected(let records, let error):
      undelivered -= records.count
      for record in records {
        let run = runs[record.run.number]
        run?.undelivered -= 1
        let isDependent = failingDependents.remove(record.id) != nil
        // Without a row it is cancelled.
        if run?.isClosing == true {
          leave(record)
          continue
        }
        let failure = record.snapshot.failure
        if isDependent {
          keepDependent(record)
          if error.isOutOfSpace { suspension.waitForSpace(now: Clock.monotonicSeconds) }
        } else if failure?.isOfMachine == true ? failure?.disposition == .waitForSpace : error.isOutOfSpace {
          waitForSpace(record)
        } else {
          waitForMachine(record, failure.flatMap { $0.isOfMachine ? $0 : nil } ?? error)
        }
      }
    case .held(let count, let obstacles): setHeld(count, obstacles)
    case .failing(let error): suspension.fail(error, now: Clock.monotonicSeconds)
    case .noSpace: suspension.waitForSpace(now: Clock.monotonicSeconds)
    case .reported(let run, let result): try reported(run, result)
    case .unstaged(let run, let error): try unstaged(run, error)
    case .unlogged(let run, let error):
      observe(.warning("entries.jsonl of job \(runs[run]?.name ?? "") lacks rows: \(error)"))
    case .broken(let error): throw error
    }
  }

  /// Takes in that a row is durable.
  private func ended(_ record: PhotoRecord, _ row: ReportRow) {
    scheduler.finished(record.id, now: Clock.monotonicMilliseconds)
    suspension.entryEnded(bytes: row.writtenBytes)
    dependencyEnded(record, row)
    if !machineFailures.isEmpty { clearFailures(of: record) }
    guard let run = runs[record.run.number], run.running != nil else { return }
    run.undelivered -= 1
    run.running?.tally.add(row)
    run.running?.plan.sources.add(row)
    restIfDeferred(run.number)
    observe(.entryEnded(job: run.name, row: row, deferred: scheduler.deferred(run: run.number).count))
  }
}

extension HostScheduler.Answer {
  /// What a download says of its host.
  fileprivate init(_ live: PhotoRecord.Live) {
    guard live.usage.requests.sent > 0 else {
      self = .none
      return
    }
    // Whatever has become of it since.
    if live.source != nil {
      self = .served
      return
    }
    switch live.failure?.disposition {
    case .hostRefused(let asked)?: self = .refused(asked)
    case .restart?: self = .served
    case .final?, .retry?, .waitForSpace?, .waitForMachine?:
      self = (live.failure?.httpStatus ?? 500) < 500 ? .served : .none
    case nil: self = .none
    }
  }
}
