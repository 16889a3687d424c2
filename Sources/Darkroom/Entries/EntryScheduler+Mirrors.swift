import JobIndex
import Model
import Scheduling
import Transfer

/// Entries of closed hosts that have a mirror at another one: they need not wait.
extension EntryScheduler {
  /// How many entries are passed on, and how many are read to find them, each time.
  private static let roundLimit = 256

  /// Starts entries of closed hosts that have a mirror at a host that is not closed: they fail without a request, and are tried
  /// at the mirror. New entries are set aside on the way.
  /// - Parameter body: Called with each.
  /// - Returns: Whether there may be more.
  /// - Throws: `IndexError`. Nothing of that job starts any more, and the others go on.
  func passOn(now: Int, _ body: (Next) throws(IndexError) -> Void) throws(IndexError) -> Bool {
    guard hosts.hasClosedHosts else { return false }
    hosts.wake(now)
    var left = Self.roundLimit
    for (host, _) in hosts.closedHosts where failure(ofHost: host) != nil {
      for (run, job) in jobs where !job.isStopped && left > 0 {
        try passOnWaiting(at: host, of: run, job, now: now, &left, body)
        try passOnNew(at: host, of: run, job, now: now, &left, body)
      }
    }
    return left == 0
  }

  private func passOnWaiting(
    at host: Int, of run: Int, _ job: JobEntries, now: Int, _ left: inout Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    let version = hosts.mirrorVersion(of: host, job: run)
    guard job.withoutMirror[host] != version else { return }
    let found = hosts.mirrored(of: host, job: run, limit: left) { key in
      job[waiting: key.position].map(hasOpenMirror) == true
    }
    for retry in found { try passOn(retry, of: run, job, now: now, body) }
    left -= found.count
    if left > 0 { job.withoutMirror[host] = version }
  }

  /// Sets entries aside that were not started at a closed host, and passes those on that have a mirror at an open one.
  private func passOnNew(
    at host: Int, of run: Int, _ job: JobEntries, now: Int, _ left: inout Int, _ body: (Next) throws(IndexError) -> Void
  ) throws(IndexError) {
    while left > 0, job.setAside < JobEntries.passLimit {
      let retry = try withIndex(of: run, now: now) { try setAside(at: host, of: run, job) }
      guard let retry else { return }
      left -= 1
      if retry.hasMirror, job[waiting: retry.key.position].map(hasOpenMirror) == true {
        try passOn(retry, of: run, job, now: now, body)
      } else {
        job.setAside += 1
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
    guard let key = hosts.next(of: host, job: run), let local = job.localNumber(of: host) else { return nil }
    let next = try job.index.next(ofHost: local, after: key)
    let retry = try setAside(key, at: host, job)
    hosts.setAside(retry, job: run, next: next)
    return retry
  }

  private func setAside(_ key: EntryKey, at host: Int, _ job: JobEntries) throws -> Retry {
    var history = AttemptHistory()
    history.setMirrors(of: try job.entry(at: key.position))
    if !history.mirrorHosts.isEmpty { job.wait(key.position, history) }
    return Retry(key: key, host: host, hasMirror: !history.mirrorHosts.isEmpty)
  }

  private func hasOpenMirror(_ history: AttemptHistory) -> Bool { history.mirrorHosts.contains(where: isOpen(host:)) }

  /// Whether a host neither is closed nor was given up.
  private func isOpen(host: String) -> Bool { names.known(host).map { hosts.breaker(of: $0).state == .open } ?? true }

  /// Whether the host of a URL neither is closed nor was given up.
  func isOpen(hostOf url: String) -> Bool { SourceLocation.hostName(of: url).map(isOpen(host:)) ?? true }
}

extension AttemptHistory {
  /// Sets the mirrors that are left of an entry.
  mutating func setMirrors(of entry: Entry) {
    // A request that may have an effect, such as a POST, counts as sent when it fails, and one that waits was not.
    guard entry.urls.count > mirror + 1, entry.request.isCacheable, !wentBack else { return mirrorHosts = [] }
    mirrorHosts = entry.urls[(mirror + 1)...].map { SourceLocation.hostName(of: $0) ?? "" }
  }
}
