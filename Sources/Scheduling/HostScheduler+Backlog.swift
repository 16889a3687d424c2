/// What keeps jobs from starting more, for what is to be told of it. It costs the same however many hosts and entries wait.
extension HostScheduler {
  /// Of so many hosts of a job it is found out why they have no room.
  private static let examined = 8

  /// What of each job can start, or waits.
  /// - Parameters:
  ///   - perHost: As for `choose`.
  ///   - now: When `choose` was last called.
  package mutating func backlogs(perHost: HostPlaces, now: Int) -> [Int: JobBacklog] {
    var backlogs: [Int: JobBacklog] = [:]
    backlogs.reserveCapacity(jobs.count)
    for place in jobs.indices { backlogs[jobs[place].number] = backlog(of: place, perHost, now) }
    return backlogs
  }

  private mutating func backlog(of place: Int, _ perHost: HostPlaces, _ now: Int) -> JobBacklog {
    var backlog = JobBacklog()
    backlog.isReady = jobs[place].hasCandidate
    backlog.retries = jobs[place].waitingRetries
    if jobs[place].upcoming == nil { backlog.onlyHost = jobs[place].onlyHost }
    for site in jobs[place].blocked.prefix(Self.examined) {
      guard let shortage = hosts.loads[jobs[place].sites[site].slot].shortage(perHost, now: now) else { continue }
      if shortage.rank > backlog.shortage?.rank ?? -1 { backlog.shortage = shortage }
    }
    if jobs[place].blocked.count == 1, let site = jobs[place].blocked.first {
      backlog.host = jobs[place].sites[site].host
    }
    if backlog.retries > 0, backlog.shortage == nil {
      let held = jobs[place].slots(Self.examined).filter { hosts.loads[$0].throttle.until > now }
      backlog.isHeld = !held.isEmpty
      if held.count == 1 { backlog.host = hosts.loads[held[0]].number }
    }
    return backlog
  }
}
