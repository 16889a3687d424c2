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
  }

  private var hosts = HostScheduler()
  private var names = HostNames()
  private var jobs: [Int: JobEntries] = [:]

  // MARK: Jobs

  /// Adds a job.
  /// - Parameter index: Its names are settled, and what has ended is marked.
  func add(run: Int, _ index: JobIndex) {
    jobs[run] = JobEntries(index)
    hosts.add(job: run)
  }

  /// Removes a job.
  func remove(run: Int) {
    jobs[run] = nil
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
  func next(now: Int, perHost: Int, lowest: Int) throws -> Next? {
    for (run, job) in jobs where job.needsUpcoming { try setUpcoming(run, job, now: now) }
    while let choice = hosts.choose(now: now, perHost: perHost, lowest: lowest) {
      guard let job = jobs[choice.job] else { return nil }
      switch choice.kind {
      case .retry(let retry):
        hosts.startRetry(job: choice.job, host: retry.host, now: now)
        return try start(JobEntries.Started(retry, since: now), of: choice.job, job)
      case .host(let host):
        guard let key = hosts.next(of: host, job: choice.job), let local = job.localNumber(of: host) else { return nil }
        return try start(key, at: host, local, of: choice.job, job, now: now)
      case .upcoming:
        guard let upcoming = job.upcoming else { return nil }
        // It may have become known since: then its turn comes when it has room.
        if isKnown(upcoming.host) {
          try setUpcoming(choice.job, job, now: now)
          continue
        }
        job.passUpcoming()
        let started = try start(upcoming.key, at: upcoming.host, upcoming.local, of: choice.job, job, now: now)
        try setUpcoming(choice.job, job, now: now)
        return started
      }
    }
    return nil
  }

  /// Finds the job's next host that was not started. Hosts that are known already are admitted on the way.
  private func setUpcoming(_ run: Int, _ job: JobEntries, now: Int) throws {
    while let upcoming = try job.fetchUpcoming(names: &names), isKnown(upcoming.host) {
      hosts.admit(job: run, host: upcoming.host, next: upcoming.key, now: now)
      job.passUpcoming()
    }
    hosts.setUpcoming(job.upcoming?.key, job: run)
  }

  private func start(
    _ key: EntryKey, at host: Int, _ local: Int, of run: Int, _ job: JobEntries, now: Int
  ) throws -> Next? {
    hosts.start(job: run, host: host, next: try job.index.next(ofHost: local, after: key), now: now)
    return try start(JobEntries.Started(key: key, host: host, since: now), of: run, job)
  }

  private func start(_ started: JobEntries.Started, of run: Int, _ job: JobEntries) throws -> Next? {
    guard let entry = try job.index.entry(at: started.key.position) else { return nil }
    job.started[started.key.position] = started
    return Next(run: run, entry: entry, mirror: started.mirror, attempts: started.attempts)
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
      host: entry.host, spent: usage.milliseconds, began: entry.since, answer, now: now,
      backoff: backoff)
    guard entry.host != HostScheduler.files else { return nil }
    job.transfers.add(
      Transfers.Counts(
        requests: usage.requests.sent, retries: entry.attemptsAtMirror > 0 ? usage.requests.sent : 0,
        bytes: usage.bytes, connections_reused: usage.requests.reused), of: names.name(of: entry.host))
    return hold
  }

  /// Marks an entry as finished; it is not scheduled again.
  func finished(_ id: PhotoRecord.ID, now: Int) {
    guard let job = jobs[id.run], let entry = job.started.removeValue(forKey: id.position) else { return }
    finished(id.run, job, at: entry.host, now)
  }

  private func finished(_ run: Int, _ job: JobEntries, at host: Int, _ now: Int) {
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
      key: entry.key, host: entry.host, attempts: attempts ?? entry.attempts,
      uncounted: entry.uncounted + (isRefused ? 1 : 0), mirror: entry.mirror,
      attemptsAtMirror: entry.attemptsAtMirror + (attempts == nil ? 0 : 1))
    hosts.retry(retry, job: id.run, due: due, now: now)
    finished(id.run, job, at: entry.host, now)
  }

  /// Has an entry start again with its next mirror, at once.
  /// - Parameters:
  ///   - url: The mirror.
  ///   - attempts: How often the entry has been tried.
  func useMirror(_ id: PhotoRecord.ID, _ url: String, attempts: Int, now: Int) throws {
    guard let job = jobs[id.run], let entry = job.started.removeValue(forKey: id.position) else { return }
    let host = try job.number(ofHost: job.index.hostNumber(known: url), names: &names)
    let retry = Retry(
      key: entry.key, host: host, attempts: attempts, uncounted: attempts, mirror: entry.mirror + 1)
    hosts.retry(retry, job: id.run, due: now, now: now)
    finished(id.run, job, at: entry.host, now)
  }

  // MARK: What waits

  /// How many tries of an entry in progress do not count, this one aside.
  func uncounted(_ id: PhotoRecord.ID) -> Int { jobs[id.run]?.started[id.position]?.uncounted ?? 0 }

  /// What the host of an entry in progress allows.
  func throttle(ofHostOf id: PhotoRecord.ID) -> Throttle {
    (jobs[id.run]?.started[id.position]).map { hosts.throttle(of: $0.host) } ?? Throttle()
  }

  /// The hosts of a job that are held, and until when: the first so many to be asked again, and how many there are.
  func heldHosts(run: Int, now: Int, limit: Int) -> (hosts: [(name: String, until: Int)], total: Int) {
    let held = hosts.held(job: run, now: now).sorted { $0.until < $1.until }
    return (held.prefix(limit).map { (names.name(of: $0.host), $0.until) }, held.count)
  }

  /// When the next wait of an entry or of a host ends, or ended since `next` was last called; nil when none waits.
  var nextChange: Int? { hosts.nextChange }

  /// How many entries of a job wait to be tried again.
  func waitingRetries(run: Int) -> Int { hosts.waitingRetries(job: run) }

  /// What a job asked of servers.
  func transfers(run: Int) -> Transfers { jobs[run]?.transfers ?? Transfers() }
}
