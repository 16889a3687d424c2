extension HostScheduler {
  /// The entries of a job that can start, or wait.
  package struct Backlog: Equatable, Sendable {
    /// Whether an entry would start if the queues had room.
    package var isReady = false

    /// A host that has no room for an entry. Default: nil, no entry waits for room.
    package var blocked: Int?

    /// The only host without room; while no host is, the only one with entries left. Default: nil.
    package var host: Int?

    /// The number of entries that wait to be tried again.
    package var retries = 0

    package init() {}
  }

  /// The backlog of each job. Costs the same however many hosts and entries wait.
  package mutating func backlogs() -> [Int: Backlog] {
    var backlogs: [Int: Backlog] = [:]
    for index in jobs.indices {
      var backlog = Backlog()
      backlog.isReady = jobs[index].hasCandidate
      backlog.retries = jobs[index].waitingRetries
      if let site = jobs[index].blocked.first {
        backlog.blocked = jobs[index].sites[site].host
        backlog.host = jobs[index].blocked.count == 1 ? backlog.blocked : nil
      } else if jobs[index].upcoming == nil {
        backlog.host = jobs[index].onlyHost
      }
      backlogs[jobs[index].number] = backlog
    }
    return backlogs
  }
}
