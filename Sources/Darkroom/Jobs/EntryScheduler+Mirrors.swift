import Scheduling

/// Entries of closed hosts that have a mirror at another one: they need not wait.
extension EntryScheduler {
  /// How many entries are read at most to find one, each time.
  private static let readLimit = 256

  /// Starts a new entry of a closed host whose next mirror is at a host that is not: it fails without a request, and is tried at
  /// the mirror. Entries before it that have no mirror are set aside, and wait for their host.
  /// - Parameter lowest: The lowest priority that may start.
  /// - Returns: nil when there is none.
  func nextWithMirror(now: Int, lowest: Int) throws(IndexError) -> Next? {
    guard hosts.hasClosedHosts else { return nil }
    var left = Self.readLimit
    for (host, _) in hosts.closedHosts where failure(ofHost: host) != nil {
      for (run, job) in jobs where !job.isStopped {
        guard let local = job.localNumber(of: host) else { continue }
        let next = try withIndex(of: run, now: now) {
          try nextWithMirror(at: host, local, of: run, job, now: now, lowest: lowest, &left)
        }
        if let next { return next }
        if left == 0 { return nil }
      }
    }
    return nil
  }

  private func nextWithMirror(
    at host: Int, _ local: Int, of run: Int, _ job: JobEntries, now: Int, lowest: Int, _ left: inout Int
  ) throws -> Next? {
    while let key = hosts.next(of: host, job: run), key.priority <= lowest, left > 0, job.mayReadMirrors {
      left -= 1
      let entry = try job.entry(at: key.position)
      // A request that may have an effect, such as a POST, counts as sent when it fails, and this one was not.
      guard entry.urls.count > 1, entry.request.isCacheable else {
        job.setAside += 1
        hosts.setAside(key, job: run, host: host, next: try job.index.next(ofHost: local, after: key))
        continue
      }
      return isOpen(hostOf: entry.urls[1]) ? try start(key, at: host, local, of: run, job, now: now) : nil
    }
    return nil
  }
}
