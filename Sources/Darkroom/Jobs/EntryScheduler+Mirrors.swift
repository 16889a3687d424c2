import Scheduling

/// Entries of closed hosts that have a mirror at another one: they need not wait.
extension EntryScheduler {
  /// How many entries are read at most to find one, each time.
  private static let readLimit = 64

  /// Starts the first new entry of a closed host if its next mirror is at a host that is not: it fails without a request, and is
  /// tried at the mirror. Those behind an entry that has none wait until that is tried, or the host was given up.
  /// - Parameter lowest: The lowest priority that may start.
  /// - Returns: nil when there is none.
  func nextWithMirror(now: Int, lowest: Int) throws(IndexError) -> Next? {
    guard hosts.hasClosedHosts else { return nil }
    var read = 0
    for (host, _) in hosts.closedHosts where failure(ofHost: host) != nil {
      for (run, job) in jobs where !job.isStopped {
        guard let key = hosts.next(of: host, job: run), key.priority <= lowest, job.withoutMirror[host] != key,
          let local = job.localNumber(of: host)
        else { continue }
        guard read < Self.readLimit else { return nil }
        read += 1
        let entry = try withIndex(of: run, now: now) { try job.entry(at: key.position) }
        // A request that may have an effect, such as a POST, counts as sent when it fails, and this one was not.
        guard entry.urls.count > 1, entry.request.isCacheable else {
          job.withoutMirror[host] = key
          continue
        }
        guard isOpen(hostOf: entry.urls[1]) else { continue }
        return try withIndex(of: run, now: now) { try start(key, at: host, local, of: run, job, now: now) }
      }
    }
    return nil
  }
}
