import Ledger
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

    /// Which of its URLs is to be asked, from 0.
    let mirror: Int

    /// How often it was tried before.
    let attempts: Int

    /// When it was first tried, in milliseconds; nil when that is now.
    let firstTried: Int?

    /// Whether it is to be told when its download begins its request.
    let hasInterval: Bool

    /// Whether it is to be told when an answer of its host begins to arrive.
    let awaitsAnswer: Bool

    /// How long this try may take; nil for as long as any other.
    let budget: Reachability.Budget?

    /// Why the try before failed, if that was kept.
    let failure: EntryFailure?

    /// What another variant of its entry has downloaded for it; nil for most.
    let inherited: PhotoRecord.Source?

    /// What the try before has left of its download.
    let partial: PartialDownload?

    /// How the mirrors before failed.
    let earlierMirrors: [ReportRow.MirrorFailure]
  }

  var hosts = HostScheduler()
  var rules = HostRules()
  var names = HostNames()
  private(set) var jobs: [Int: JobEntries] = [:]

  /// The jobs some of whose entries wait for others, or for another of their variants.
  private(set) var dependentRuns: Set<Int> = []

  /// Whether a suspicion has become an outage of the network. Default: none has.
  var isOutage: (Int) -> Bool = { _ in false }

  // MARK: Jobs

  /// Adds a job.
  /// - Parameters:
  ///   - index: Its names are settled, and what has ended or is deferred is marked.
  ///   - deferred: The entries that an earlier process has deferred.
  ///   - dependencies: Which entries wait for others; nil when none does.
  ///   - heldVariants: How many variants wait for others of their entry.
  ///   - waitingVariants: Besides, those that wait for one that goes on in the run that this one replaces, by its position.
  ///   - transfers: What was asked of servers for it before.
  func add(
    run: Int, _ index: JobIndex, deferred: [DeferredEntry] = [], dependencies: DependencyTracker? = nil,
    heldVariants: Int = 0, waitingVariants: [Int: [EntryKey]] = [:], transfers: Transfers = Transfers()
  ) {
    let job = JobEntries(index)
    job.transfers = transfers
    job.dependencies = dependencies
    let variants = waitingVariants.values.reduce(heldVariants) { $0 + $1.count }
    if variants > 0 {
      job.variants = HeldVariants(count: variants)
      job.variants?.waiting = waitingVariants
    }
    if dependencies != nil || variants > 0 { dependentRuns.insert(run) }
    for entry in deferred { job.deferred.insert(entry) }
    jobs[run] = job
    hosts.add(job: run)
  }

  /// The jobs of which nothing starts for now, also those among them that are added later.
  var suspended: Set<Int> {
    get { hosts.suspended }
    set { hosts.suspended = newValue }
  }

  /// Removes a job.
  func remove(run: Int) {
    jobs[run] = nil
    dependentRuns.remove(run)
    hosts.remove(job: run, now: Clock.monotonicMilliseconds)
    names.forget { host in self.isKnown(host) || self.isUpcoming(host) }
  }

  private func isKnown(_ host: Int) -> Bool { hosts.knows(host) }

  private func isUpcoming(_ host: Int) -> Bool { jobs.values.contains { $0.upcoming?.host == host } }

  // MARK: Starting

  /// The next entry to start; nil when none may start now. It counts as started.
  /// - Parameters:
  ///   - perHost: Downloads at once from one host.
  ///   - lowest: The lowest priority that may start, as `Entry.Priority.rank`.
  /// - Throws: `IndexError`. Nothing of that job starts any more, and the others go on.
  func next(now: Int, perHost: HostPlaces, lowest: Int) throws(IndexError) -> Next? {
    for (run, job) in jobs where !job.isStopped && job.hasChanges(now: now) {
      try withIndex(of: run, now: now) {
        if job.needsUpcoming { try setUpcoming(run, job, now: now) }
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
  private func start(_ choice: HostScheduler.Choice, of job: JobEntries, now: Int) throws -> Next? {
    switch choice.kind {
    case .retry(let retry):
      let entry = try job.entry(at: retry.key.position)
      hosts.startRetry(job: choice.job, host: retry.host, now: now)
      if retry.key.wasDeferred { job.deferred.started(retry.key.position) }
      var started = JobEntries.Started(retry, since: now)
      started.discountOutage(isOutage)
      return start(started, entry, of: choice.job, job)
    case .host(let host):
      guard let key = hosts.next(of: host, job: choice.job), let local = job.localNumber(of: host) else {
        throw StopError.broken("a host of job \(choice.job) is not known")
      }
      return try start(key, at: host, local, of: choice.job, job, now: now)
    case .released(let key, let host):
      let entry = try job.entry(at: key.position)
      guard job.variants?.sources.isEmpty == false, let inherited = takeInheritance(key.position, in: job) else {
        hosts.startReleased(job: choice.job, host: host, now: now)
        return start(job.firstStart(of: key, at: host, now: now), entry, of: choice.job, job)
      }
      var started = JobEntries.Started(key: key, host: host, since: now)
      started.mirror = inherited.mirror
      started.retryHost = try job.number(
        ofHost: job.index.hostNumber(known: entry.urls[inherited.mirror]), names: &names)
      hosts.startReleased(job: choice.job, host: host, now: now)
      return start(started, entry, inherited: inherited.source, of: choice.job, job)
    case .upcoming:
      guard let upcoming = job.upcoming else { throw StopError.broken("job \(choice.job) has no next host") }
      // It may have become known since: then its turn comes when it has room.
      if isKnown(upcoming.host) {
        try setUpcoming(choice.job, job, now: now)
        return nil
      }
      let started = try start(upcoming.key, at: upcoming.host, upcoming.local, of: choice.job, job, now: now)
      job.passUpcoming()
      do {
        try setUpcoming(choice.job, job, now: now)
      } catch {
        // This one has started. The next one is looked up again, since the job `needsUpcoming`.
        hosts.setUpcoming(nil, job: choice.job)
      }
      return started
    }
  }

  /// Finds the job's next host that was not started. Hosts that are known already are admitted on the way.
  private func setUpcoming(_ run: Int, _ job: JobEntries, now: Int) throws {
    while let upcoming = try job.fetchUpcoming(names: &names), isKnown(upcoming.host) {
      hosts.admit(
        job: run, host: upcoming.host, next: upcoming.key, now: now, allowance: allowance(of: upcoming.host))
      job.passUpcoming()
    }
    hosts.setUpcoming(job.upcoming?.key, job: run)
  }

  private func start(
    _ key: EntryKey, at host: Int, _ local: Int, of run: Int, _ job: JobEntries, now: Int
  ) throws -> Next {
    let entry = try job.entry(at: key.position)
    let next = try job.index.next(ofHost: local, after: key)
    hosts.start(job: run, host: host, next: next, now: now, allowance: allowance(of: host))
    return start(job.firstStart(of: key, at: host, now: now), entry, of: run, job)
  }

  private func start(
    _ started: JobEntries.Started, _ entry: Entry, inherited: PhotoRecord.Source? = nil, of run: Int, _ job: JobEntries
  ) -> Next {
    var started = started
    started.failure = job.failures.removeValue(forKey: started.key.position)
    job.started[started.key.position] = started
    if !job.attempts.isEmpty { job.attempts[started.key.position] = nil }
    if !job.firstTried.isEmpty { job.firstTried[started.key.position] = nil }
    return Next(
      run: run, entry: entry, mirror: started.mirror, attempts: started.attempts, firstTried: started.firstTried,
      hasInterval: hosts.hasInterval(started.host), awaitsAnswer: hosts.awaitsAnswer(started.host),
      budget: hosts.reachability(of: started.host).budget,
      failure: started.failure, inherited: inherited,
      partial: job.partials.removeValue(forKey: started.key.position),
      earlierMirrors: started.mirror == 0 ? [] : job.mirrorFailures[started.key.position] ?? [])
  }

  // MARK: Endings

  /// Records that an entry's download has ended, whether it succeeded or not: its host has room for another, unless it
  /// asked for a hold.
  /// - Returns: How long the host is held, in seconds, if that is new.
  func downloadEnded(
    _ id: PhotoRecord.ID, _ usage: HostUsage, _ answer: HostScheduler.Answer, now: Int, backoff: Backoff
  ) -> Double? {
    guard let job = jobs[id.run], let entry = job.started[id.position], entry.isDownloading else { return nil }
    job.started[id.position]?.isDownloading = false
    let hold = hosts.downloadEnded(
      host: entry.host, spent: usage.milliseconds, began: entry.since, hasBegun: entry.hasBegun,
      isSlow: entry.isSlow, answer,
      contact: usage.contact, now: now, backoff: backoff)
    guard entry.host != HostScheduler.files else { return nil }
    job.transfers.add(
      Transfers.Counts(
        requests: usage.requests.sent, retries: entry.attemptsAtMirror > 0 ? usage.requests.sent : 0,
        bytes: usage.bytes, connections_reused: usage.requests.reused), of: names.name(of: entry.host),
      failure: usage.failure, isHeld: hold != nil, firstByte: usage.firstByte)
    return hold
  }

  /// Records that the last try of an entry in progress failed, which does not count if a suspicion becomes an outage.
  func downloadFailed(_ id: PhotoRecord.ID, suspicion: Int) {
    jobs[id.run]?.started[id.position]?.fail(suspicion: suspicion, isOutage: isOutage)
  }

  /// Forgets that hosts were silent, after an outage of the network.
  func forgetSilences() { hosts.forgetSilences() }

  /// Marks an entry as finished; it is not scheduled again.
  func finished(_ id: PhotoRecord.ID, now: Int) {
    guard let job = jobs[id.run], let entry = job.started.removeValue(forKey: id.position) else { return }
    if entry.mirror > 0 { job.mirrorFailures[id.position] = nil }
    finished(id.run, job, at: entry.host, now)
  }

  func finished(_ run: Int, _ job: JobEntries, at host: Int, _ now: Int) {
    hosts.finished(job: run, host: host, now: now)
    // The job's next host keeps its numbers: a mirror may have been asked there first.
    guard !hosts.has(job: run, at: host), job.upcoming?.host != host else { return }
    job.forget(host)
    if !isKnown(host), !isUpcoming(host) { names.remove(host) }
  }

  /// Has an entry start again, from `due` on.
  /// - Parameters:
  ///   - attempts: How often it has been tried; nil when the last time does not count.
  ///   - isRefused: Whether its host refused it the last time.
  func retry(_ id: PhotoRecord.ID, attempts: Int?, isRefused: Bool = false, due: Int, now: Int) {
    guard let job = jobs[id.run], let entry = job.started.removeValue(forKey: id.position) else { return }
    let retry = Retry(
      key: entry.key, host: entry.retryHost ?? entry.host, attempts: attempts ?? entry.attempts,
      uncounted: entry.uncounted + (isRefused ? 1 : 0), refusals: entry.refusals + (isRefused ? 1 : 0),
      mirror: entry.mirror,
      attemptsAtMirror: entry.attemptsAtMirror + (attempts == nil ? 0 : 1),
      firstTried: entry.firstTried ?? entry.since, mirrorMayPass: entry.mirrorMayPass, suspected: entry.suspected,
      roundBegan: entry.roundBegan)
    (job.attempts[id.position], job.firstTried[id.position]) = (retry.attempts, retry.firstTried)
    hosts.retry(retry, job: id.run, due: due, now: now, allowance: allowance(of: retry.host))
    finished(id.run, job, at: entry.host, now)
  }

  /// Has an entry start again whose download has not begun, as if it had not been started.
  func startAgain(_ id: PhotoRecord.ID, now: Int) {
    guard let job = jobs[id.run], let entry = job.started.removeValue(forKey: id.position) else { return }
    if let failure = entry.failure { job.failures[id.position] = failure }
    if entry.attempts > 0 { job.attempts[id.position] = entry.attempts }
    if let firstTried = entry.firstTried { job.firstTried[id.position] = firstTried }
    let retry =
      entry.retry
      ?? Retry(
        key: entry.key, host: entry.retryHost ?? entry.host, attempts: entry.attempts, mirror: entry.mirror,
        attemptsAtMirror: entry.attemptsAtMirror, firstTried: entry.firstTried ?? entry.since)
    hosts.retry(retry, job: id.run, due: now, now: now, allowance: allowance(of: retry.host))
    finished(id.run, job, at: entry.host, now)
  }

  /// Has an entry start again with its next mirror, at once.
  /// - Parameters:
  ///   - url: The mirror.
  ///   - attempts: How often the entry has been tried.
  ///   - mayPass: Whether the failure of the mirror before may pass.
  ///   - failure: How that mirror failed.
  /// - Throws: `IndexError`. Then the entry is in progress still.
  func useMirror(
    _ id: PhotoRecord.ID, _ url: String, attempts: Int, mayPass: Bool = false,
    after failure: ReportRow.MirrorFailure? = nil, now: Int
  ) throws(IndexError) {
    guard let job = jobs[id.run], let entry = job.started[id.position] else { return }
    let host = try withIndex(of: id.run, now: now) {
      try job.number(ofHost: job.index.hostNumber(known: url), names: &names)
    }
    job.started[id.position] = nil
    if entry.mirror == 0 { job.mirrorFailures[id.position] = nil }
    if let failure { job.mirrorFailures[id.position, default: []].append(failure) }
    let retry = Retry(
      key: entry.key, host: host, attempts: attempts, uncounted: attempts, mirror: entry.mirror + 1,
      firstTried: entry.firstTried ?? entry.since, mirrorMayPass: entry.mirrorMayPass || mayPass,
      roundBegan: entry.roundBegan)
    (job.attempts[id.position], job.firstTried[id.position]) = (attempts, retry.firstTried)
    hosts.retry(retry, job: id.run, due: now, now: now, allowance: allowance(of: host))
    finished(id.run, job, at: entry.host, now)
  }

  // MARK: What waits

  /// How many tries of an entry in progress, the last one included, do not count.
  func uncounted(_ id: PhotoRecord.ID) -> Int {
    jobs[id.run]?.started[id.position]?.uncounted(isOutage: isOutage) ?? 0
  }

  /// The suspicion to which the failure of the last try of an entry in progress belongs; nil when it belongs to none.
  func suspicion(_ id: PhotoRecord.ID) -> Int? {
    guard let entry = jobs[id.run]?.started[id.position], entry.isSuspected else { return nil }
    return entry.suspected?.suspicion
  }

  /// The name of the host of an entry in progress; nil for a file.
  func hostName(_ id: PhotoRecord.ID) -> String? {
    guard let host = jobs[id.run]?.started[id.position]?.host, host != HostScheduler.files else { return nil }
    return names.name(of: host)
  }

  /// Keeps why an entry failed that is to be tried again.
  func keep(_ failure: EntryFailure?, of id: PhotoRecord.ID) { jobs[id.run]?.failures[id.position] = failure }

  /// Records that an entry that was to be tried again is not: its time is over, and its last try decides.
  func notTried(_ id: PhotoRecord.ID, now: Int, backoff: Backoff) {
    _ = downloadEnded(id, HostUsage(), .none, now: now, backoff: backoff)
    guard let entry = jobs[id.run]?.started[id.position] else { return }
    jobs[id.run]?.started[id.position]?.isSuspected = entry.suspected != nil
  }

  /// Has the time for all tries of an entry that has just started count from now on, unless it does already.
  func startTimer(_ id: PhotoRecord.ID, now: Int) {
    guard let entry = jobs[id.run]?.started[id.position], entry.roundBegan == nil else { return }
    jobs[id.run]?.started[id.position]?.roundBegan = now
  }

  /// What the host of an entry in progress allows.
  func throttle(ofHostOf id: PhotoRecord.ID) -> Throttle {
    (jobs[id.run]?.started[id.position]).map { hosts.throttle(of: $0.host) } ?? Throttle()
  }

  /// What is known of whether the host of an entry in progress answers.
  func reachability(ofHostOf id: PhotoRecord.ID) -> Reachability {
    (jobs[id.run]?.started[id.position]).map { hosts.reachability(of: $0.host) } ?? Reachability()
  }

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
