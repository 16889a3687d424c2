import JobIndex
import Scheduling
import Transfer

/// Entries of closed hosts that have a mirror at another host, and need not wait.
extension EntryScheduler {
  /// The most entries that start without a request, or are read to find those with open mirrors, in one round.
  static let roundLimit = 256

  /// Starts entries of closed hosts that have a mirror at an open host. They fail without a request and are then tried
  /// at the mirror. New entries are set aside for that.
  /// - Parameter body: Called with each entry.
  /// - Returns: Whether there may be more.
  /// - Throws: `IndexError`. No more entries of that job start. Other jobs continue.
  func passOn(now: Int, _ body: (Next) throws(IndexError) -> Void) throws(IndexError) -> Bool {
    guard hosts.hasClosedHosts else { return false }
    hosts.wake(now)
    checkCrowded()
    var left = Self.roundLimit
    while left > 0, let host = hosts.nextMirrorCheck(now: now) {
      do throws(IndexError) {
        try passOn(at: host, now: now, &left, body)
      } catch {
        hosts.checkMirrors(of: host)
        throw error
      }
      if left == 0 { hosts.checkMirrors(of: host) }
    }
    return left == 0
  }

  /// Looks again at as many hosts as there is room for entries.
  private func checkCrowded() {
    for (run, waiting) in crowded {
      let room = JobEntries.passLimit - (jobs[run]?.waitingCount ?? 0)
      guard room > 0 else { continue }
      for host in waiting.prefix(room) {
        crowded[run]?.remove(host)
        hosts.checkMirrors(of: host)
      }
      if waiting.count <= room { crowded[run] = nil }
    }
  }

  private func passOn(
    at host: Int, now: Int, _ left: inout Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    guard failure(ofHost: host) != nil else { return }
    for run in hosts.jobs(at: host) {
      guard let job = jobs[run], !job.isStopped else { continue }
      try passOnWaiting(at: host, of: run, job, now: now, &left, body)
      try passOnNew(at: host, of: run, job, now: now, &left, body)
    }
  }

  private func passOnWaiting(
    at host: Int, of run: Int, _ job: JobEntries, now: Int, _ left: inout Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    let found = hosts.mirrored(of: host, job: run, limit: left) { key in
      job[waiting: key.position].map { hasOpenMirror($0, now: now) } == true
    }
    // An entry that cannot be started stops the job.
    for retry in found where !job.isStopped { try passOn(retry, of: run, job, now: now, body) }
    left -= found.count
  }

  /// Sets new entries of a closed host aside, and starts those with a mirror at an open host.
  private func passOnNew(
    at host: Int, of run: Int, _ job: JobEntries, now: Int, _ left: inout Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    while left > 0, job.waitingCount < JobEntries.passLimit, !job.isStopped {
      let retry = try withIndex(of: run, now: now) { try setAside(at: host, of: run, job) }
      guard let retry else { return }
      left -= 1
      if retry.hasMirror, job[waiting: retry.key.position].map({ hasOpenMirror($0, now: now) }) == true {
        try passOn(retry, of: run, job, now: now, body)
      }
    }
    if job.waitingCount >= JobEntries.passLimit { crowded[run, default: []].insert(host) }
  }

  private func passOn(
    _ retry: Retry, of run: Int, _ job: JobEntries, now: Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    let next = try withIndex(of: run, now: now) {
      try start(.init(job: run, kind: .retry(retry)), of: job, now: now, isPassedOn: true)
    }
    if let next { try body(next) }
  }

  /// Sets the next new entry of a closed host aside. Returns nil when there is none.
  private func setAside(at host: Int, of run: Int, _ job: JobEntries) throws -> Retry? {
    if let key = hosts.firstReleased(of: host, job: run) {
      let retry = try setAside(key, at: host, job)
      hosts.setAsideReleased(retry, job: run)
      return retry
    }
    guard let key = hosts.next(of: host, job: run), let local = job.hosts.locals[host] else { return nil }
    let next = try job.index.next(ofHost: local, after: key)
    let retry = try setAside(key, at: host, job)
    hosts.setAside(retry, job: run, next: next)
    return retry
  }

  private func setAside(_ key: EntryKey, at host: Int, _ job: JobEntries) throws -> Retry {
    var history = AttemptHistory()
    history.setHosts(of: try job.entry(at: key.position))
    if history.hasMirror { job.wait(key.position, history) } else { job.setAside.insert(key.position) }
    return Retry(key: key, host: host, hasMirror: history.hasMirror)
  }

  private func hasOpenMirror(_ history: AttemptHistory, now: Int) -> Bool {
    history.nextURL(of: history.hosts.count) { isOpen(host: history.hosts[$0], now: now) } != nil
  }

  private func isOpen(host: String, now: Int) -> Bool {
    host.isEmpty || names.known(host).map { hosts.isOpen($0, now: now) } ?? true
  }

  /// Whether an entry of a closed host may use a URL, because that URL's host is open.
  func isOpen(hostOf url: String, now: Int) -> Bool { isOpen(host: SourceLocation.origin(of: url) ?? "", now: now) }
}
