extension HostScheduler {
  /// What of a job can start, or waits.
  package struct Backlog: Equatable, Sendable {
    /// Whether an entry would start if the queues had room.
    package var isReady = false

    /// A host that has no room for an entry. Default: nil, no entry waits for room.
    package var blocked: Int?

    /// The only host without room; while none is without, the only one at which something is left. Default: nil.
    package var host: Int?

    /// How many entries wait to be tried again.
    package var retries = 0

    package init() {}
  }

  /// What of each job can start, or waits. It costs the same however many hosts and entries wait.
  package mutating func backlogs() -> [Int: Backlog] {
    var backlogs: [Int: Backlog] = [:]
    for place in jobs.indices {
      var backlog = Backlog()
      backlog.isReady = jobs[place].hasCandidate
      backlog.retries = jobs[place].waitingRetries
      if let site = jobs[place].blocked.first {
        backlog.blocked = jobs[place].sites[site].host
        backlog.host = jobs[place].blocked.count == 1 ? backlog.blocked : nil
      } else if jobs[place].upcoming == nil {
        backlog.host = jobs[place].onlyHost
      }
      backlogs[jobs[place].number] = backlog
    }
    return backlogs
  }
}
