import Scheduling
import Transfer

/// Entries of closed hosts that have a mirror at another one: they need not wait.
extension EntryScheduler {
  /// How many entries are read at most to find one, each time.
  private static let readLimit = 256

  /// Starts an entry of a closed host that has a mirror at a host that is not closed: it fails without a request, and is tried
  /// at the mirror. New entries are set aside on the way.
  /// - Parameter lowest: The lowest priority that may start.
  /// - Returns: nil when there is none.
  func nextWithMirror(now: Int, lowest: Int) throws(IndexError) -> Next? {
    guard hosts.hasClosedHosts else { return nil }
    var left = Self.readLimit
    for (host, _) in hosts.closedHosts where failure(ofHost: host) != nil {
      for (run, job) in jobs where !job.isStopped {
        let next = try withIndex(of: run, now: now) {
          try nextWithMirror(at: host, of: run, job, now: now, lowest: lowest, &left)
        }
        if let next { return next }
      }
    }
    return nil
  }

  private func nextWithMirror(
    at host: Int, of run: Int, _ job: JobEntries, now: Int, lowest: Int, _ left: inout Int
  ) throws -> Next? {
    while true {
      let retry = hosts.firstMirrored(of: host, job: run) { key in
        key.priority <= lowest && job[waiting: key.position].map(hasOpenMirror) == true
      }
      if let retry { return try start(.init(job: run, kind: .retry(retry)), of: job, now: now) }
      guard left > 0, job.mayReadMirrors else { return nil }
      guard try setAside(at: host, of: run, job, lowest: lowest) else { return nil }
      left -= 1
    }
  }

  /// Sets the next entry aside that was not started at a closed host.
  /// - Returns: Whether there was one.
  private func setAside(at host: Int, of run: Int, _ job: JobEntries, lowest: Int) throws -> Bool {
    if let key = hosts.firstReleased(of: host, job: run), key.priority <= lowest {
      hosts.setAsideReleased(try setAside(key, at: host, job), job: run)
      return true
    }
    guard let key = hosts.next(of: host, job: run), key.priority <= lowest, let local = job.localNumber(of: host)
    else { return false }
    let next = try job.index.next(ofHost: local, after: key)
    hosts.setAside(try setAside(key, at: host, job), job: run, next: next)
    return true
  }

  private func setAside(_ key: EntryKey, at host: Int, _ job: JobEntries) throws -> Retry {
    var history = AttemptHistory()
    history.setMirrors(of: try job.entry(at: key.position))
    if history.mirrorHosts.isEmpty { job.setAside += 1 } else { job.wait(key.position, history) }
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
    guard entry.urls.count > mirror + 1, entry.request.isCacheable else { return mirrorHosts = [] }
    mirrorHosts = entry.urls[(mirror + 1)...].map { SourceLocation.hostName(of: $0) ?? "" }
  }
}
