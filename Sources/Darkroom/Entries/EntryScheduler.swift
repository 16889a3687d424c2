import JobIndex
import Ledger
import Model
import Scheduling
import System
import Transfer

/// The entries that are left to start, of all live jobs: what `HostScheduler` decides, read from the jobs' indexes.
///
/// It belongs to the thread of `Darkroom`.
final class EntryScheduler {
  /// An entry to be started.
  struct Next {
    let run: Int
    let entry: Entry

    /// Its tries before this one.
    let history: AttemptHistory

    /// Whether the scheduler wants to know when its download begins its request.
    let hasInterval: Bool

    /// Whether the scheduler wants to know when an answer of its host begins to arrive.
    let awaitsAnswer: Bool

    /// How long this try may take.
    let budget: HostBreaker.Budget

    /// Why it fails without a request. Default: nil, it does not: its host was not given up.
    let hostFailure: EntryFailure?

    /// What another variant of its entry has downloaded for it. Default: nil, nothing.
    let inherited: PhotoRecord.Source?
  }

  var hosts = HostScheduler()
  var rules = HostRules()
  var names = HostNames()
  var portals = CaptivePortals()
  private(set) var jobs: [Int: JobEntries] = [:]

  /// The jobs some of whose entries wait for others, or for another of their variants.
  private(set) var dependentRuns: Set<Int> = []

  /// What is still downloaded for jobs that were removed.
  private var orphans: [PhotoRecord.ID: JobEntries.Started] = [:]

  /// How hosts failed that do not answer, by their numbers.
  private var hostFailures: [Int: EntryFailure] = [:]

  // MARK: Jobs

  /// Adds a job.
  /// - Parameters:
  ///   - index: Its names are settled, and what has ended or is deferred is marked.
  ///   - deferred: The entries that an earlier process has deferred.
  ///   - dependencies: Which entries wait for others; nil when none does.
  ///   - heldVariants: How many variants wait for others of their entry.
  ///   - transfers: What was asked of servers for it before.
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

  /// Removes a job. What is still downloaded for it counts for its host until it ends.
  func remove(run: Int) {
    if let job = jobs[run] {
      for position in job.startedPositions where job[started: position]?.isDownloading == true {
        orphans[PhotoRecord.ID(run: run, position: position)] = job[started: position]
      }
    }
    jobs[run] = nil
    dependentRuns.remove(run)
    hosts.remove(job: run, now: Clock.monotonicMilliseconds)
    names.forget { host in self.isKnown(host) || self.isUpcoming(host) }
    if !hostFailures.isEmpty { hostFailures = hostFailures.filter { !names.name(of: $0.key).isEmpty } }
  }

  private func isKnown(_ host: Int) -> Bool { hosts.knows(host) }

  private func isUpcoming(_ host: Int) -> Bool { jobs.values.contains { $0.hosts.upcoming?.host == host } }

  // MARK: Starting

  /// The next entry to start; nil when none may start now. It counts as started.
  /// - Parameters:
  ///   - perHost: Downloads at once from one host.
  ///   - lowest: The lowest priority that may start, as `Entry.Priority.rank`.
  /// - Throws: `IndexError`. Nothing of that job starts any more, and the others go on.
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

  /// Starts what was chosen. What the index must have is read first: when that fails nothing has started.
  /// - Returns: nil when it was chosen for what is not so any more.
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
      // It may have become known since: then its turn comes when it has room.
      if isKnown(upcoming.host) {
        try setUpcoming(choice.job, job, now: now)
        return nil
      }
      let started = try start(upcoming.key, at: upcoming.host, upcoming.local, of: choice.job, job, now: now)
      job.hosts.advance()
      do {
        try setUpcoming(choice.job, job, now: now)
      } catch {
        // This one has started. The next one is looked up again, since the job `needsUpcoming`.
        hosts.setUpcoming(nil, job: choice.job)
      }
      return started
    }
  }

  /// Finds the job's next host that was not started. Hosts that are known already are admitted on the way; while this machine
  /// has no network, those that have to wait for it, too: files and known hosts behind them are not to wait.
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

  /// - Parameter inherited: What another variant has downloaded for it, and the host that is asked if it is tried again.
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
    // The file is the download's now.
    history.partial = nil
    job.start(
      JobEntries.Started(
        key: key, host: host, since: now, history: history, retryHost: inherited?.retryHost,
        isTrial: admission == .trial))
    return next
  }

  // MARK: Endings

  /// Records that an entry's download has ended, whether it succeeded or not: its host has room for another, unless it
  /// asked for a hold, or was closed.
  /// - Parameter failure: Why it failed. Default: nil, it did not.
  /// - Returns: How long the host is held, in seconds, if that is new.
  func downloadEnded(
    _ id: PhotoRecord.ID, _ usage: HostUsage, _ answer: HostScheduler.Answer, failure: EntryFailure? = nil, now: Int,
    backoff: Backoff
  ) -> Double? {
    let job = jobs[id.run]
    guard let entry = job?[started: id.position] ?? orphans.removeValue(forKey: id), entry.isDownloading else {
      return nil
    }
    job?[started: id.position]?.isDownloading = false
    let hold = hosts.downloadEnded(
      host: entry.host, spent: usage.milliseconds, began: entry.since, hasBegun: entry.hasBegun,
      isSlow: entry.isSlow, answer,
      contact: usage.contact, isTrial: entry.isTrial, now: now, backoff: backoff)
    guard entry.host != HostScheduler.files else { return nil }
    switch usage.contact {
    case .failed: hostFailures[entry.host] = failure
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

  /// Marks an entry as finished; it is not scheduled again.
  func finished(_ id: PhotoRecord.ID, now: Int) {
    guard let job = jobs[id.run], let entry = job[started: id.position] else { return }
    job[started: id.position] = nil
    finished(id.run, job, at: entry.host, now)
  }

  func finished(_ run: Int, _ job: JobEntries, at host: Int, _ now: Int) {
    hosts.finished(job: run, host: host, now: now)
    // The job's next host keeps its numbers: a mirror may have been asked there first.
    guard !hosts.has(job: run, at: host), job.hosts.upcoming?.host != host else { return }
    job.hosts.forget(host)
    if !isKnown(host), !isUpcoming(host) {
      names.remove(host)
      hostFailures[host] = nil
    }
  }

  /// Tries an entry again, from `due` on.
  /// - Parameters:
  ///   - attempts: How often it has been tried; nil when the last time does not count.
  ///   - isRefused: Whether its host refused it the last time.
  ///   - hasHostFailed: Whether its host failed.
  ///   - failsByItself: Whether that was while its host served others.
  ///   - needsBytes: Whether the bytes of its source are not there.
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

  /// Holds an entry whose host was closed by its last try, or before that ended: the try does not count.
  func hold(_ id: PhotoRecord.ID, now: Int) {
    guard let job = jobs[id.run], let entry = job[started: id.position] else { return }
    var history = entry.history
    history.held(now: now)
    retry(id, entry, history, at: entry.retryHost ?? entry.host, of: job, due: now, now: now)
  }

  /// Tries an entry at another of its URLs, at once.
  /// - Parameter change: Changes what is known about its tries.
  /// - Throws: `IndexError`. Then the entry is in progress still.
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
      key: entry.key, host: host, holds: history.tries.failsByItself ? .max : history.tries.holds,
      hasMirror: history.hasMirror)
    hosts.retry(retry, job: id.run, due: due, now: now, allowance: allowance(of: host))
    finished(id.run, job, at: entry.host, now)
  }

  // MARK: What waits

  /// How many tries of an entry in progress do not count for `--retries`.
  func uncounted(_ id: PhotoRecord.ID) -> Int {
    started(id).map { $0.history.attempts - $0.history.tries.counted } ?? 0
  }

  /// Keeps why an entry failed that waits.
  func keep(_ failure: EntryFailure?, of id: PhotoRecord.ID) {
    guard let job = jobs[id.run], var history = job[waiting: id.position] else { return }
    history.failure = failure
    job.wait(id.position, history)
  }

  /// Records that an entry that was to be tried again is not: its time is over, and its last try decides.
  func notTried(_ id: PhotoRecord.ID, now: Int, backoff: Backoff) {
    _ = downloadEnded(id, HostUsage(), .none, now: now, backoff: backoff)
  }

  /// Starts the time for all tries of an entry that has just started, unless it runs already. It begins anew when the host was
  /// closed while the entry waited.
  func startTimer(_ id: PhotoRecord.ID, now: Int) {
    guard let entry = started(id) else { return }
    let wasClosed = entry.history.tries.closings != hosts.breaker(of: entry.host).closings
    guard entry.history.roundBegan == nil || wasClosed else { return }
    jobs[id.run]?[started: id.position]?.history.roundBegan = now
  }

  /// What the host of an entry in progress allows.
  func throttle(ofHostOf id: PhotoRecord.ID) -> Throttle {
    started(id).map { hosts.throttle(of: $0.host) } ?? Throttle()
  }

  /// Whether the host of an entry in progress may be asked.
  func breaker(ofHostOf id: PhotoRecord.ID) -> HostBreaker {
    started(id).map { hosts.breaker(of: $0.host) } ?? HostBreaker()
  }

  /// Records that a picture of the host of an entry in progress was delivered.
  func delivered(_ id: PhotoRecord.ID) {
    if let host = started(id)?.host, host != HostScheduler.files { hosts.delivered(host) }
  }

  /// Records that an entry in progress was redirected to a place that is no picture.
  func redirected(_ id: PhotoRecord.ID, to place: String, now: Int) -> CaptivePortals.Place {
    guard let host = started(id)?.host, host != HostScheduler.files else {
      return portals.isPortal(place) ? .portal : .page
    }
    return portals.redirected(host, hasDelivered: hosts.breaker(of: host).hasDelivered, to: place, now: now)
  }

  /// A host as reports, the status and events name it.
  func shownName(of host: Int) -> String { host == HostScheduler.files ? "this machine" : names.name(of: host) }

  /// How a host failed last, if it has not answered since.
  func failure(ofHost host: Int) -> EntryFailure? { hostFailures[host] }

  /// How many downloads do nothing but wait for hosts that do not answer.
  func silentDownloads(now: Int) -> Int { hosts.silentDownloads(now: now) }

  /// The hosts of a job that are held, and until when: the first so many to be asked again, and how many there are.
  func heldHosts(run: Int, now: Int, limit: Int) -> (hosts: [(name: String, until: Int)], total: Int) {
    let held = hosts.held(job: run, now: now).sorted { $0.until < $1.until }
    return (held.prefix(limit).map { (names.name(of: $0.host), $0.until) }, held.count)
  }

  /// When the next wait of an entry or of a host ends, or ended since `next` was last called; nil when none waits.
  var nextChange: Int? {
    if hasDependentsToTell { return 0 }
    return jobs.values.lazy.filter { !$0.isStopped }.reduce(hosts.nextChange) { first, job in
      job.deferredChange < .max ? min(job.deferredChange, first ?? .max) : first
    }
  }

  /// How many entries of a job wait to be tried again.
  func waitingRetries(run: Int) -> Int { hosts.waitingRetries(job: run) }

  /// What a job asked of servers.
  func transfers(run: Int) -> Transfers { jobs[run]?.transfers ?? Transfers() }
}
