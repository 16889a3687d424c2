import Model
import Operations
import Scheduling
import System
import Transfer

/// Handles entries whose operations have ended.
extension EntryFlow {
  /// Handles the beginning of an entry's download. Events of an earlier try that has ended are ignored.
  /// - Parameter time: When the request began; nil when none was needed.
  func downloadBegan(_ record: PhotoRecord, at time: Int?) {
    guard pending.inProgress[record.id]?.record === record else { return }
    scheduler.downloadBegan(record.id, at: time)
  }

  /// Handles the end of an entry's download. Its host has a free slot, unless it asked to wait.
  func downloadEnded(_ record: PhotoRecord, backoff: Backoff) {
    guard pending.inProgress[record.id]?.record === record else { return }
    let wasSlow = pending.isSlow(record.id)
    pending.downloadHasEnded(record)
    let portal = takePortalsAnswer(to: record)
    let live = record.snapshot
    if live.original?.isDelivered == false { delivery.deliver(originalOf: record) }
    if portal == nil, record.entry.firstRow != nil, let source = live.source { startVariants(of: record, source) }
    let wasAnswering = scheduler.breaker(ofHostOf: record.id).responds
    var answer = HostScheduler.Answer(live)
    // When an entry that is refused on its own fails for the last time, the host is not held for others.
    if case .refused(let asked) = answer, let started = scheduler.started(record.id),
      backoff.isRefusedItself(
        own: started.history.tries.refusals + 1, inRow: scheduler.throttle(ofHostOf: record.id).refusals + 1,
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
      // A failing host does not show how many downloads are possible.
      pending.room.window.ended(
        isFailure: wasAnswering && !wasSlow && live.failure?.code.mayBeOverload == true,
        isSuspect: scheduler.breaker(ofHostOf: record.id).state != .open, now: Clock.monotonicMilliseconds)
    }
    guard let hold else { return }
    let host = SourceLocation.origin(of: record.url) ?? ""
    observe(.host(host, .held(seconds: hold, why: live.failure?.message ?? "")))
  }

  /// Handles an entry whose operations have both finished.
  func operationsEnded(_ record: PhotoRecord, _ configuration: Configuration) {
    // Operations of a cancelled run may finish late.
    guard pending.inProgress[record.id]?.record === record else { return }
    pending.remove(record)
    decide(on: record, configuration, mayBePortal: checkRedirect(of: record))
  }

  /// Handles files that were checked: entries whose files are unchanged have ended without operations.
  func filesChecked(_ configuration: Configuration) {
    for record in pending.takeUnchanged() {
      downloadEnded(record, backoff: configuration.backoff)
      operationsEnded(record, configuration)
    }
  }

  /// Decides what happens to an entry whose operations have both finished.
  /// - Parameters:
  ///   - mayBePortal: Whether it was redirected to a possible captive portal.
  ///   - wasTried: Whether a request was made. If not, its host is closed or was given up.
  func decide(
    on record: PhotoRecord, _ configuration: Configuration, mayBePortal: Bool = false, wasTried: Bool = true
  ) {
    let live = record.snapshot
    let now = Clock.monotonicMilliseconds
    let mirror = nextMirror(of: record, now: now)
    let entry = endedEntry(
      record, live, configuration, mirror, mayBePortal: mayBePortal, wasTried: wasTried, now: now)
    let entries = runs[record.run.number]
    let isClosing = entries?.isClosing == true
    let verdict = Verdict(
      on: entry, backoff: configuration.backoff, deferral: configuration.deferral,
      isStopping: gate.isStopping || isClosing, now: now)
    if let entries, isClosing, verdict != .deliver || entries.isSource {
      scheduler.giveUp(record.id, now: now, backoff: configuration.backoff)
      return countAsCancelled(record, entries)
    }
    // A partial download is only used by the next try at the same URL.
    let partial = record.takePartial()
    switch verdict {
    case .deliver: end(record, live, refusals: entry.throttle.refusals, configuration)
    case .hold:
      scheduler.hold(record.id, now: now)
      scheduler.keep(partial, of: record.id)
    case .waitForSpace:
      // Other jobs need less space than a list.
      if entries?.isSource == true, live.source != nil { endSource(record) } else { waitForSpace(record) }
    case .waitForMachine: waitForMachine(record, live.failure ?? .cache)
    case .restart: scheduler.retry(record.id, attempts: nil, needsBytes: live.state == .failed, due: now, now: now)
    case .leave: break
    case .retry(let seconds):
      scheduler.retry(
        record.id, attempts: live.attempts, isRefused: live.failure?.isHostRefusal == true,
        hasHostFailed: live.failureOfHost != nil, failsByItself: entry.host == .answering,
        due: now + Int((seconds * 1000).rounded(.up)), now: now)
      scheduler.keep(partial, of: record.id)
      tryAgain(record, live, configuration, after: seconds)
    case .postpone(let wait): postpone(record, live, wait: wait, now: now)
    case .useMirror:
      guard let mirror = mirror.url else { return deliver(record) }
      tryMirror(mirror, of: record, live, configuration, isPassedOver: entry.host == .closed, now: now)
    }
  }

  /// Ends an entry, with its result or for good with its failure.
  /// - Parameter refusals: How often in a row its host has refused requests.
  private func end(_ record: PhotoRecord, _ live: PhotoRecord.Live, refusals: Int, _ configuration: Configuration) {
    // Variants of a possible portal's page were not started yet.
    if record.entry.firstRow != nil, let source = live.source { startVariants(of: record, source) }
    if live.failure?.isHostRefusal == true, refusals > max(configuration.backoff.retries, live.attempts) {
      record.hostRefused(refusals)
    }
    if runs[record.run.number]?.isSource == true { endSource(record) } else { deliver(record) }
  }

  /// Tries an entry at another of its URLs.
  /// - Parameters:
  ///   - mirror: The index of that URL.
  ///   - isPassedOver: Whether the last one was left because its host is closed.
  private func tryMirror(
    _ mirror: Int, of record: PhotoRecord, _ live: PhotoRecord.Live, _ configuration: Configuration,
    isPassedOver: Bool, now: Int
  ) {
    let failure = live.failure.map { ReportRow.MirrorFailure($0, of: SourceLocation.redacted(record.url)) }
    let url = record.entry.urls[mirror]
    do throws(EntryScheduler.IndexError) {
      try scheduler.useMirror(record.id, url, now: now) {
        $0.use(
          mirror, attempts: live.attempts, after: failure, isRetryable: live.failure?.isRetryable == true,
          isPassedOver: isPassedOver)
      }
    } catch {
      scheduler.finished(record.id, now: now)
      return indexFailed(error)
    }
    tryAgain(record, live, configuration, after: 0, mirror: SourceLocation.redacted(url))
  }

  /// The next URL to try: the next one that has not failed, preferably at an open host.
  /// - Returns: nil when all have failed.
  private func nextMirror(of record: PhotoRecord, now: Int) -> (url: Int?, isOpen: Bool) {
    guard let history = scheduler.started(record.id)?.history else { return (nil, false) }
    let urls = record.entry.urls
    let open = history.nextURL(of: urls.count) { scheduler.isOpen(hostOf: urls[$0], now: now) }
    return (open ?? history.nextURL(of: urls.count), open != nil)
  }

  /// The input of `Verdict` for an entry.
  private func endedEntry(
    _ record: PhotoRecord, _ live: PhotoRecord.Live, _ configuration: Configuration,
    _ mirror: (url: Int?, isOpen: Bool), mayBePortal: Bool, wasTried: Bool, now: Int
  ) -> EndedEntry {
    let started = scheduler.started(record.id)
    return EndedEntry(
      state: live.state, failure: live.failure, attempts: live.attempts - scheduler.uncounted(record.id),
      hasMirror: mirror.url != nil,
      throttle: scheduler.throttle(ofHostOf: record.id),
      refusals: (started?.history.tries.refusals ?? 0) + (live.failure?.isHostRefusal == true ? 1 : 0),
      age: started.map { now - $0.firstTried } ?? 0, wasDeferred: started?.key.wasDeferred == true,
      hadRetryableMirrorFailure: started?.history.hadRetryableMirrorFailure == true,
      mayBePortal: mayBePortal,
      mayRepeat: record.entry.request.isCacheable || configuration.backoff.isGiven || !wasSent(record, live),
      timeLeft: timeLeft(record.id, configuration), host: hostState(record, live, wasTried: wasTried),
      isMirrorOpen: mirror.isOpen)
  }

  /// Keeps and reports the failure of an entry that is tried again.
  private func tryAgain(
    _ record: PhotoRecord, _ live: PhotoRecord.Live, _ configuration: Configuration, after seconds: Double,
    mirror: String? = nil
  ) {
    if configuration.entryTimeout != nil { scheduler.keep(live.failure, of: record.id) }
    // An entry that is passed on from a closed host may not have been tried.
    guard let failure = live.failure, live.attempts > 0 else { return }
    observe(
      .entryRetry(
        job: record.run.job, name: record.entry.shownName, attempts: live.attempts, seconds: seconds,
        mirror: mirror, error: ReportRow.Failure(failure)))
  }
}

extension HostScheduler.Answer {
  /// The answer of the host to a download.
  fileprivate init(_ live: PhotoRecord.Live) {
    guard live.usage.requests.sent > 0 else {
      self = .none
      return
    }
    // The request was served, even if the entry failed later.
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
