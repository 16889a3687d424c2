import JobIndex
import Model
import Scheduling
import Transfer

/// Entries of closed hosts that have a mirror at another one: they need not wait.
extension EntryScheduler {
  /// How many entries start in one round without a request, and how many are read to find those that are passed on.
  static let roundLimit = 256

  /// Starts entries of closed hosts that have a mirror at a host that is not closed: they fail without a request, and are tried
  /// at the mirror. New entries are set aside on the way.
  /// - Parameter body: Called with each.
  /// - Returns: Whether there may be more.
  /// - Throws: `IndexError`. Nothing of that job starts any more, and the others go on.
  func passOn(now: Int, _ body: (Next) throws(IndexError) -> Void) throws(IndexError) -> Bool {
    guard hosts.hasClosedHosts else { return false }
    hosts.wake(now)
    var left = Self.roundLimit
    for (run, host) in hosts.closedSites where failure(ofHost: host) != nil {
      guard left > 0, let job = jobs[run], !job.isStopped else { continue }
      try passOnWaiting(at: host, of: run, job, now: now, &left, body)
      try passOnNew(at: host, of: run, job, now: now, &left, body)
    }
    return left == 0
  }

  private func passOnWaiting(
    at host: Int, of run: Int, _ job: JobEntries, now: Int, _ left: inout Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    let version = hosts.mirrorVersion(of: host, job: run)
    guard job.withoutMirror[host] != version else { return }
    let found = hosts.mirrored(of: host, job: run, limit: left) { key in
      job[waiting: key.position].map { hasOpenMirror($0, now: now) } == true
    }
    // One that cannot be started stops the job.
    for retry in found where !job.isStopped { try passOn(retry, of: run, job, now: now, body) }
    left -= found.count
    if left > 0 { job.withoutMirror[host] = version }
  }

  /// Sets entries aside that were not started at a closed host, and passes those on that have a mirror at an open one.
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
      job.withoutMirror[host] = hosts.mirrorVersion(of: host, job: run)
    }
  }

  private func passOn(
    _ retry: Retry, of run: Int, _ job: JobEntries, now: Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    let next = try withIndex(of: run, now: now) {
      try start(.init(job: run, kind: .retry(retry)), of: job, now: now, isPassedOn: true)
    }
    if let next { try body(next) }
  }

  /// Sets the next entry aside that was not started at a closed host. Default: nil, there is none.
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

  /// Whether the host of a URL may be asked for an entry of a closed host.
  func isOpen(hostOf url: String, now: Int) -> Bool { isOpen(host: SourceLocation.hostName(of: url) ?? "", now: now) }
}
