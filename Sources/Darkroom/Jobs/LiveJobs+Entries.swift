import Scheduling
import System
import Transfer

/// An entry's way through the live jobs: admitted, and in the end delivered, put off, or tried again.
extension LiveJobs {
  /// Starts entries while the window has room.
  func admit(now: Double, _ configuration: Configuration, cache: DownloadCache?) throws {
    guard !isStopping, !suspension.isPaused else { return }
    while let lowest = pending.lowestPriorityWithRoom(besides: undelivered) {
      let next = try scheduler.next(
        now: Clock.monotonicMilliseconds, perHost: configuration.transfer.perHost, lowest: lowest)
      guard let next, let run = runs[next.run], let plan = run.plan else { return }
      run.lastStarted = now
      let record = PhotoRecord(next.entry, run: plan.run, mirror: next.mirror, attempts: next.attempts)
      let isFile = SourceLocation.hostName(of: record.url) == nil
      pending.start(record, cache: isFile ? nil : cache, earlier: try earlierResults(of: next.entry, plan))
    }
  }

  private func earlierResults(of entry: Entry, _ plan: Plan) throws -> EarlierResults? {
    guard plan.hasOutputs else { return nil }
    let outputs = try EarlierResults.targets(of: entry).compactMap { try plan.index.output($0) }
    return EarlierResults(folder: plan.run.folder, outputs: outputs)
  }

  /// Takes in that an entry's download has ended: its host has room for another, unless it asked for a hold.
  func downloadEnded(_ record: PhotoRecord, backoff: Backoff) {
    pending.downloadHasEnded(record)
    let live = record.snapshot
    let hold = scheduler.downloadEnded(
      record.id, live.usage, HostScheduler.Answer(live), now: Clock.monotonicMilliseconds, backoff: backoff)
    guard let hold else { return }
    let host = SourceLocation.hostName(of: record.url) ?? ""
    observe(.hostHeld(host: host, seconds: hold, why: live.failure?.message ?? ""))
  }

  /// Takes in an entry both of whose operations have finished.
  func operationsEnded(_ record: PhotoRecord, backoff: Backoff) throws {
    pending.remove(record)
    let live = record.snapshot
    let now = Clock.monotonicMilliseconds
    let entry = EndedEntry(
      state: live.state, failure: live.failure, attempts: live.attempts - scheduler.uncounted(record.id),
      hasMirror: record.hasMirror, throttle: scheduler.throttle(ofHostOf: record.id))
    switch Verdict(on: entry, backoff: backoff, isStopping: isStopping, now: now) {
    case .deliver: deliver(record)
    case .waitForSpace: waitForSpace(record)
    case .restart: scheduler.retry(record.id, attempts: nil, due: now, now: now)
    case .leave: break
    case .retry(let seconds):
      let isRefused = if case .hostRefused? = live.failure?.disposition { true } else { false }
      scheduler.retry(
        record.id, attempts: live.attempts, isRefused: isRefused, due: now + Int((seconds * 1000).rounded(.up)),
        now: now)
      reportRetry(record, live, after: seconds)
    case .useMirror:
      let mirror = record.entry.urls[record.mirror + 1]
      try scheduler.useMirror(record.id, mirror, attempts: live.attempts, now: now)
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

  private func deliver(_ record: PhotoRecord) {
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
    case .rejected(let records):
      undelivered -= records.count
      for record in records {
        runs[record.run.number]?.undelivered -= 1
        waitForSpace(record)
      }
    case .noSpace: suspension.waitForSpace(now: Clock.monotonicSeconds)
    case .reported(let run, let result): try reported(run, result)
    case .unlogged(let run, let error):
      observe(.warning("entries.jsonl of job \(runs[run]?.name ?? "") lacks rows: \(error)"))
    case .broken(let error): throw error
    }
  }

  private func ended(_ record: PhotoRecord, _ row: ReportRow) {
    scheduler.finished(record.id, now: Clock.monotonicMilliseconds)
    guard let run = runs[record.run.number], case .running(var running) = run.phase else { return }
    run.undelivered -= 1
    running.tally.add(row)
    run.phase = .running(running)
    observe(.entryEnded(job: run.name, row: row))
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
    case .final?, .retry?, .waitForSpace?: self = (live.failure?.httpStatus ?? 500) < 500 ? .served : .none
    case nil: self = .none
    }
  }
}
