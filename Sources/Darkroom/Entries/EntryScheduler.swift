import JobIndex
import Model
import Scheduling
import System
import Transfer

/// Decides which entry of the live jobs starts next: combines `HostScheduler` with the jobs' indexes.
///
/// Used on the thread of `Darkroom`.
final class EntryScheduler {
  /// An entry to start.
  struct Next {
    let run: Int
    let entry: Entry

    /// Its tries before this one.
    let history: AttemptHistory

    /// Whether the scheduler wants a request-started event.
    let hasInterval: Bool

    /// Whether the scheduler wants an event when the host's answer begins to arrive.
    let awaitsAnswer: Bool

    /// The time limit of this try.
    let budget: HostBreaker.Budget

    /// The failure of its host, which was given up: the entry fails without a request. Default: nil.
    let hostFailure: EntryFailure?

    /// The source that another variant of its entry has downloaded for it. Default: nil, none.
    let inherited: PhotoRecord.Source?
  }

  var hosts = HostScheduler()
  var rules = HostRules()
  var names = HostNames()
  var portals = CaptivePortals()
  private(set) var jobs: [Int: JobEntries] = [:]

  /// The jobs with entries that wait for others, or for another of their variants.
  private(set) var dependentRuns: Set<Int> = []

  /// The downloads in progress of removed jobs.
  private var orphans: [PhotoRecord.ID: JobEntries.Started] = [:]

  /// The last failures of failing hosts, by number.
  private var hostFailures: [Int: EntryFailure] = [:]

  /// The closed hosts at which no more entries of a job were set aside, because too many of the job wait.
  var crowded: [Int: Set<Int>] = [:]

  // MARK: Jobs

  /// Adds a job.
  /// - Parameters:
  ///   - index: The index, with final names, in which ended and deferred entries are marked.
  ///   - deferred: The entries that an earlier process deferred.
  ///   - dependencies: The dependencies between entries; nil when there are none.
  ///   - heldVariants: The number of variants that wait for others of their entry.
  ///   - transfers: The requests that were sent for it before.
  func add(
    run: Int, _ index: JobIndex, deferred: [DeferredEntry] = [], dependencies: DependencyTracker? = nil,
    heldVariants: Int = 0, transfers: Transfers = Transfers()
  ) {
    let job = JobEntries(index)
    job.transfers = transfers
    job.dependencies = dependencies
    if heldVariants > 0 { job.variants = HeldVariants(count: heldVariants) }
    if dependencies != nil || heldVariants > 0 { dependentRuns.insert(run) }
    for entry in deferred { job.deferred.insert(entry) }
    jobs[run] = job
    hosts.add(job: run)
  }

  /// Removes a job. Its downloads in progress occupy slots of their hosts until they end.
  func remove(run: Int) {
    if let job = jobs[run] {
      for position in job.startedPositions where job[started: position]?.isDownloading == true {
        orphans[PhotoRecord.ID(run: run, position: position)] = job[started: position]
      }
    }
    jobs[run] = nil
    crowded[run] = nil
    dependentRuns.remove(run)
    hosts.remove(job: run, now: Clock.monotonicMilliseconds)
    names.forget { host in self.isKnown(host) || self.isUpcoming(host) }
    if !hostFailures.isEmpty { hostFailures = hostFailures.filter { !names.name(of: $0.key).isEmpty } }
  }

  /// Lets no entries of these jobs start, and those of all others.
  func pause(runs: Set<Int>) { hosts.pause(jobs: runs) }

  private func isKnown(_ host: Int) -> Bool { hosts.knows(host) }

  private func isUpcoming(_ host: Int) -> Bool { jobs.values.contains { $0.hosts.upcoming?.host == host } }

  // MARK: Starting

  /// Chooses the next entry, which then counts as started; nil when none may start now.
  /// - Parameters:
  ///   - perHost: The limit of downloads at once from one host.
  ///   - lowest: The lowest priority that may start, as `Entry.Priority.rank`.
  /// - Throws: `IndexError`. No more entries of that job start. Other jobs continue.
  func next(now: Int, perHost: HostLimit, lowest: Int) throws(IndexError) -> Next? {
    let passesUpcoming = hosts.isMachineHeld
    for (run, job) in jobs where !job.isStopped && (job.hasChanges(now: now) || passesUpcoming && job.hosts.mayPass) {
      try withIndex(of: run, now: now) {
        if job.hosts.needsUpcoming || passesUpcoming { try setUpcoming(run, job, now: now) }
        if job.deferredChange <= now { try resumeDeferred(run, job, now: now) }
        if job.dependencies?.hasWork == true { try tellDependents(run, job, now: now) }
      }
    }
    while let choice = hosts.choose(now: now, perHost: perHost, lowest: lowest) {
      guard let job = jobs[choice.job] else { return nil }
      let next = try withIndex(of: choice.job, now: now) { try start(choice, of: job, now: now) }
      if let next { return next }
    }
    return nil
  }

  /// Starts the chosen entry. The index is read before any change, so that an error leaves the entry unstarted.
  /// - Returns: nil when the choice was out of date.
  func start(
    _ choice: HostScheduler.Choice, of job: JobEntries, now: Int, isPassedOn: Bool = false
  ) throws -> Next? {
    switch choice.kind {
    case .retry(let retry):
      let entry = try job.entry(at: retry.key.position)
      let admission = hosts.startRetry(retry, job: choice.job, now: now, isPassedOn: isPassedOn)
      if retry.key.wasDeferred { job.deferred.started(retry.key.position) }
      return start(retry.key, at: retry.host, admission, entry, of: choice.job, job, now: now)
    case .host(let host):
      guard let key = hosts.next(of: host, job: choice.job), let local = job.hosts.locals[host] else {
        throw StopError.broken("a host of job \(choice.job) is not known")
      }
      return try start(key, at: host, local, of: choice.job, job, now: now)
    case .released(let key, let host):
      let entry = try job.entry(at: key.position)
      guard job.variants?.sources.isEmpty == false, let inherited = takeInheritance(key.position, in: job) else {
        let admission = hosts.startReleased(job: choice.job, host: host, now: now)
        return start(key, at: host, admission, entry, of: choice.job, job, now: now)
      }
      let retryHost = try job.hosts.number(
        ofHost: job.index.hostNumber(known: entry.urls[inherited.mirror]), names: &names)
      hosts.startReleased(job: choice.job, host: host, now: now)
      return start(key, at: host, .request, entry, (inherited, retryHost), of: choice.job, job, now: now)
    case .upcoming:
      guard let upcoming = job.hosts.upcoming else { throw StopError.broken("job \(choice.job) has no next host") }
      // If the host has become known since, its entry is ranked there.
      if isKnown(upcoming.host) {
        try setUpcoming(choice.job, job, now: now)
        return nil
      }
      let started = try start(upcoming.key, at: upcoming.host, upcoming.local, of: choice.job, job, now: now)
      job.hosts.advance()
      do {
        try setUpcoming(choice.job, job, now: now)
      } catch {
        // The entry has started. The next host is looked up later, since the job `needsUpcoming`.
        hosts.setUpcoming(nil, job: choice.job)
      }
      return started
    }
  }

  /// Finds the job's next new host. Known hosts are admitted on the way. While this machine has no network, new hosts
  /// are admitted too, so that files and known hosts behind them do not wait.
  private func setUpcoming(_ run: Int, _ job: JobEntries, now: Int) throws {
    while let upcoming = try job.hosts.fetchUpcoming(names: &names) {
      if !isKnown(upcoming.host), upcoming.host != HostScheduler.files {
        guard hosts.isMachineHeld, job.hosts.passed < JobEntries.passLimit else { break }
        job.hosts.passed += 1
      }
      hosts.admit(
        job: run, host: upcoming.host, next: upcoming.key, now: now, allowance: allowance(of: upcoming.host))
      job.hosts.advance()
    }
    hosts.setUpcoming(job.hosts.upcoming?.key, job: run)
  }

  private func start(
    _ key: EntryKey, at host: Int, _ local: Int, of run: Int, _ job: JobEntries, now: Int
  ) throws -> Next {
    let entry = try job.entry(at: key.position)
    let next = try job.index.next(ofHost: local, after: key)
    let admission = hosts.start(job: run, host: host, next: next, now: now, allowance: allowance(of: host))
    return start(key, at: host, admission, entry, of: run, job, now: now)
  }

  /// - Parameter inherited: The source that another variant has downloaded for it, and the host for another try.
  private func start(
    _ key: EntryKey, at host: Int, _ admission: HostScheduler.Admission, _ entry: Entry,
    _ inherited: (HeldVariants.Inheritance, retryHost: Int)? = nil, of run: Int, _ job: JobEntries, now: Int
  ) -> Next {
    var history = job[waiting: key.position] ?? AttemptHistory()
    if let (inherited, _) = inherited { history = AttemptHistory(inheritedFrom: inherited.mirror) }
    history.setHosts(of: entry)
    let next = Next(
      run: run, entry: entry, history: history, hasInterval: hosts.hasInterval(host),
      awaitsAnswer: hosts.awaitsAnswer(host), budget: hosts.breaker(of: host).budget,
      hostFailure: admission == .failure ? hostFailures[host]?.ofGivenUpHost : nil,
      inherited: inherited?.0.source)
    // The download owns the file now.
    history.partial = nil
    job.start(
      JobEntries.Started(
        key: key, host: host, since: now, history: history, retryHost: inherited?.retryHost,
        isTrial: admission == .trial))
    return next
  }

  // MARK: Endings

  /// Records that an entry's download has ended, whether or not it succeeded. Its host has a free slot, unless it asked
  /// to wait or was closed.
  /// - Parameter failure: Why the download failed. Default: nil, it did not.
  /// - Returns: How long the host is held, in seconds; nil unless a hold begins.
  func downloadEnded(
    _ id: PhotoRecord.ID, _ usage: HostUsage, _ answer: HostScheduler.Answer, failure: EntryFailure? = nil, now: Int,
    backoff: Backoff
  ) -> Double? {
    let job = jobs[id.run]
    guard let entry = job?[started: id.position] ?? orphans.removeValue(forKey: id), entry.isDownloading else {
      return nil
    }
    entry.isDownloading = false
    let isOwnFailure = usage.contact.failure != nil && failsByItself(entry)
    let hold = hosts.downloadEnded(
      host: entry.host, spent: usage.milliseconds, began: entry.since, hasBegun: entry.hasBegun,
      isSlow: entry.isSlow, answer, contact: usage.contact, isTrial: entry.isTrial, isOwnFailure: isOwnFailure,
      now: now, backoff: backoff)
    guard entry.host != HostScheduler.files else { return nil }
    switch usage.contact {
    case .failed:
      if hostFailures[entry.host] == nil { hosts.checkMirrors(of: entry.host) }
      hostFailures[entry.host] = failure
    case .answered: if !hostFailures.isEmpty { hostFailures[entry.host] = nil }
    case .unknown: break
    }
    job?.transfers.add(
      Transfers.Counts(
        requests: usage.requests.sent, retries: entry.history.tries.wasAsked ? usage.requests.sent : 0,
        bytes: usage.bytes, connections_reused: usage.requests.reused), of: names.name(of: entry.host),
      failure: usage.failure, isHeld: hold != nil, firstByte: usage.firstByte)
    return hold
  }

  /// Marks an entry as finished. It is not scheduled again.
  func finished(_ id: PhotoRecord.ID, now: Int) {
    guard let job = jobs[id.run], let entry = job[started: id.position] else { return }
    job.removeStarted(id.position)
    finished(id.run, job, at: entry.host, now)
    // Other variants may have inherited the same source.
    if let other = entry.retryHost,
      !job.startedPositions.contains(where: { job[started: $0]?.retryHost == other || job[started: $0]?.host == other })
    {
      forget(other, of: id.run, job)
    }
  }

  func finished(_ run: Int, _ job: JobEntries, at host: Int, _ now: Int) {
    hosts.finished(job: run, host: host, now: now)
    forget(host, of: run, job)
  }

  /// Removes the numbers of a host at which a job has no entries left.
  private func forget(_ host: Int, of run: Int, _ job: JobEntries) {
    // The numbers of the job's next host are kept. It may have been used as a mirror before its own entries.
    guard !hosts.has(job: run, at: host), job.hosts.upcoming?.host != host else { return }
    job.hosts.forget(host)
    if !isKnown(host), !isUpcoming(host) {
      names.remove(host)
      hostFailures[host] = nil
    }
  }

  /// Tries an entry again, from `due` on.
  /// - Parameters:
  ///   - attempts: The number of tries; nil when the last one does not count.
  ///   - isRefused: Whether its host refused the last try.
  ///   - hasHostFailed: Whether its host failed.
  ///   - failsByItself: Whether it failed while its host served others.
  ///   - needsBytes: Whether the bytes of its source are missing.
  func retry(
    _ id: PhotoRecord.ID, attempts: Int?, isRefused: Bool = false, hasHostFailed: Bool = false,
    failsByItself: Bool = false, needsBytes: Bool = false, due: Int, now: Int
  ) {
    guard let job = jobs[id.run], let entry = job[started: id.position] else { return }
    var history = entry.history
    history.needsBytes = needsBytes
    if let attempts {
      history.tried(
        attempts: attempts, isRefused: isRefused, failedAt: hasHostFailed ? now : nil, failsByItself: failsByItself)
    }
    retry(id, entry, history, at: entry.retryHost ?? entry.host, of: job, due: due, now: now)
  }

  /// Holds an entry whose host was closed during its last try. The try does not count.
  func hold(_ id: PhotoRecord.ID, now: Int) {
    guard let job = jobs[id.run], let entry = job[started: id.position] else { return }
    var history = entry.history
    history.held(now: now)
    retry(id, entry, history, at: entry.retryHost ?? entry.host, of: job, due: now, now: now)
  }

  /// Tries an entry at another of its URLs immediately.
  /// - Parameter change: Changes the history of its tries.
  /// - Throws: `IndexError`. The entry is then still in progress.
  func useMirror(
    _ id: PhotoRecord.ID, _ url: String, now: Int, _ change: (inout AttemptHistory) -> Void
  ) throws(IndexError) {
    guard let job = jobs[id.run], let entry = job[started: id.position] else { return }
    let host = try withIndex(of: id.run, now: now) {
      try job.hosts.number(ofHost: job.index.hostNumber(known: url), names: &names)
    }
    var history = entry.history
    change(&history)
    retry(id, entry, history, at: host, of: job, due: now, now: now)
  }

  private func retry(
    _ id: PhotoRecord.ID, _ entry: JobEntries.Started, _ history: AttemptHistory, at host: Int, of job: JobEntries,
    due: Int, now: Int
  ) {
    var history = history
    history.firstTried = entry.firstTried
    history.tries.closings = hosts.breaker(of: host).closings
    job.wait(id.position, history)
    let retry = Retry(
      key: entry.key, host: host,
      tries: history.tries.failsByItself ? .max : history.tries.holds + history.tries.counted,
      hasMirror: history.hasMirror)
    hosts.retry(retry, job: id.run, due: due, now: now, allowance: allowance(of: host))
    finished(id.run, job, at: entry.host, now)
  }

  // MARK: Waiting entries

  /// The number of tries of an entry in progress that do not count for `--retries`.
  func uncounted(_ id: PhotoRecord.ID) -> Int {
    started(id).map { $0.history.attempts - $0.history.tries.counted } ?? 0
  }

  /// Keeps the failure of a waiting entry.
  func keep(_ failure: EntryFailure?, of id: PhotoRecord.ID) {
    guard let job = jobs[id.run], var history = job[waiting: id.position] else { return }
    history.failure = failure
    job.wait(id.position, history)
  }

  /// Records that a started entry is not tried: its time is over and its last failure counts, or its host was given up.
  func notTried(_ id: PhotoRecord.ID, now: Int, backoff: Backoff) {
    _ = downloadEnded(id, HostUsage(), .none, now: now, backoff: backoff)
  }

  /// Starts the timer for all tries of an entry that has just started, unless it is running. It is restarted when the
  /// host was closed while the entry waited.
  func startTimer(_ id: PhotoRecord.ID, now: Int) {
    guard let entry = started(id) else { return }
    let wasClosed = entry.history.tries.closings != hosts.breaker(of: entry.host).closings
    guard entry.history.roundBegan == nil || wasClosed else { return }
    entry.history.roundBegan = now
  }

  /// The throttle of the host of an entry in progress.
  func throttle(ofHostOf id: PhotoRecord.ID) -> Throttle {
    started(id).map { hosts.throttle(of: $0.host) } ?? Throttle()
  }

  /// The breaker of the host of an entry in progress.
  func breaker(ofHostOf id: PhotoRecord.ID) -> HostBreaker {
    started(id).map { hosts.breaker(of: $0.host) } ?? HostBreaker()
  }

  /// Whether an entry in progress failed before, and its host has served others since.
  func failsByItself(_ id: PhotoRecord.ID) -> Bool { started(id).map(failsByItself) ?? false }

  private func failsByItself(_ entry: JobEntries.Started) -> Bool {
    let tries = entry.history.tries
    return tries.failsByItself
      || tries.failedAt.map { hosts.breaker(of: entry.host).hasServed(since: $0 + 1) } ?? false
  }

  /// Records that the host of an entry in progress delivered a picture.
  func delivered(_ id: PhotoRecord.ID) {
    if let host = started(id)?.host, host != HostScheduler.files { hosts.delivered(host) }
  }

  /// Records that an entry in progress was redirected to a target that is not a picture.
  func redirected(_ id: PhotoRecord.ID, to target: String, now: Int) -> CaptivePortals.TargetKind {
    guard let host = started(id)?.host, host != HostScheduler.files else {
      return portals.isPortal(target) ? .portal : .page
    }
    return portals.redirected(host, hasDelivered: hosts.breaker(of: host).hasDelivered, to: target, now: now)
  }

  /// The name of a host in reports, the status and events.
  func shownName(of host: Int) -> String { host == HostScheduler.files ? HostHold.thisMachine : names.name(of: host) }

  /// The last failure of a host; nil when it has answered since.
  func failure(ofHost host: Int) -> EntryFailure? { hostFailures[host] }

  /// The number of downloads that only wait for hosts that do not answer.
  func silentDownloads(now: Int) -> Int { hosts.silentDownloads(now: now) }

  /// The held hosts of a job with the ends of their holds, the earliest `limit` of them, and their total number.
  func heldHosts(run: Int, now: Int, limit: Int) -> (hosts: [(name: String, until: Int)], total: Int) {
    let held = hosts.held(job: run, now: now).sorted { $0.until < $1.until }
    return (held.prefix(limit).map { (names.name(of: $0.host), $0.until) }, held.count)
  }

  /// When the next wait of an entry or a host ends, or ended since the last `next`; nil when none waits.
  var nextChange: Int? {
    if hasDependentsToTell { return 0 }
    return jobs.values.lazy.filter { !$0.isStopped }.reduce(hosts.nextChange) { first, job in
      job.deferredChange < .max ? min(job.deferredChange, first ?? .max) : first
    }
  }

  /// The number of entries of a job that wait for another try.
  func waitingRetries(run: Int) -> Int { hosts.waitingRetries(job: run) }

  /// The requests that were sent for a job.
  func transfers(run: Int) -> Transfers { jobs[run]?.transfers ?? Transfers() }
}
