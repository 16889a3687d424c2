/// The ends of downloads, and waiting entries.
extension HostScheduler {
  /// The end of a wait, of an entry or of a host.
  struct Timer: Comparable {
    let due: Int
    let host: Int
    /// nil for a host's.
    let retry: (job: Int, retry: Retry)?

    static func < (a: Timer, b: Timer) -> Bool { a.due < b.due }
    static func == (a: Timer, b: Timer) -> Bool { a.due == b.due }
  }

  // MARK: Endings

  /// Records the end of a download, whether it succeeded or not.
  /// - Parameters:
  ///   - milliseconds: How long it was in the queue.
  ///   - began: When it started.
  ///   - hasBegun: Whether `downloadBegan` was called for it.
  ///   - isSlow: Whether `downloadIsSlow` was called for it.
  ///   - contact: What it tells about whether the host answers.
  ///   - isTrial: Whether its start returned `Admission.trial`.
  ///   - isOwnFailure: Whether its entry fails by itself, see `HostBreaker.failed`. Default: no.
  /// - Returns: How long the host is held, in seconds, if the hold is new.
  package mutating func downloadEnded(
    host: Int, spent milliseconds: Int, began: Int, hasBegun: Bool = false, isSlow: Bool = false, _ answer: Answer,
    contact: Contact = .unknown, isTrial: Bool = false, isOwnFailure: Bool = false, now: Int, backoff: Backoff
  ) -> Double? {
    guard let slot = hosts.slot(of: host), hosts.loads[slot].downloading > 0 else { return nil }
    if !hasBegun { hosts.loads[slot].beginning -= 1 }
    if isSlow { hosts.loads[slot].slow -= 1 }
    let wasMachineClosed = hosts.machine.isClosed
    let due = hosts.ended(slot, contact, began: began, isTrial: isTrial, isOwnFailure: isOwnFailure, now: now)
    hosts.loads[slot].excess += max(0, milliseconds - Self.usual)
    var hold: Double?
    switch answer {
    case .served:
      let opening = HostChange(host: host, kind: .opened)
      // It may have opened after failures as well.
      let isReported = hosts.changes.contains { $0.host == host && $0.kind == .opened }
      if hosts.loads[slot].throttle.served(began: began), !isReported { hosts.changes.append(opening) }
    case .refused(let asked):
      hold = hosts.loads[slot].throttle.refused(asked: asked, began: began, now: now, backoff: backoff)
    case .none: break
    }
    for other in due { unblock(other) }
    if wasMachineClosed, !hosts.machine.isClosed { unblockAll() }
    unblock(slot)
    // A removed job does not call `finished`.
    hosts.removeIfUnused(slot, now: now)
    return hold
  }

  /// Records that a download is too slow: its host may have room for another.
  package mutating func downloadIsSlow(host: Int) {
    guard let slot = hosts.slot(of: host) else { return }
    hosts.loads[slot].slow += 1
    unblock(slot)
  }

  /// Tries an entry again from `due` on. Call `finished` for its last try afterwards.
  /// - Parameter allowance: The operator's limits for the host; evaluated when no job has entries there yet.
  package mutating func retry(
    _ retry: Retry, job: Int, due: Int, now: Int, allowance: @autoclosure () -> HostAllowance = .standard
  ) {
    guard let index = index(of: job) else { return }
    jobs[index].retryWaits(at: attach(index, to: retry.host, now, allowance()))
    timers.insert(Timer(due: due, host: retry.host, retry: (job, retry)))
  }

  /// Records that the outcome of a started entry is known, after `downloadEnded`. A host at which the job has nothing left is
  /// forgotten.
  package mutating func finished(job: Int, host: Int, now: Int) {
    guard let index = index(of: job), let site = jobs[index].site(at: host) else { return }
    jobs[index].finished(at: site)
    guard jobs[index].sites[site].isDone else { return }
    jobs[index].remove(site)
    hosts.detach(job, from: jobs[index].sites[site].slot, now: now)
  }

  // MARK: Waiting entries

  package func throttle(of host: Int) -> Throttle {
    hosts.slot(of: host).map { hosts.loads[$0].throttle } ?? Throttle()
  }

  package func breaker(of host: Int) -> HostBreaker {
    hosts.slot(of: host).map { hosts.loads[$0].breaker } ?? HostBreaker()
  }

  package mutating func delivered(_ host: Int) {
    if let slot = hosts.slot(of: host) { hosts.loads[slot].breaker.delivered() }
  }

  /// Records that an answer of a host has begun to arrive, before its download ends.
  package mutating func answerBegan(_ host: Int) {
    guard let slot = hosts.slot(of: host), !hosts.loads[slot].breaker.responds else { return }
    hosts.answerBegan(slot)
    unblock(slot)
  }

  /// Whether the first answer of a host is awaited, also after a silence.
  package func awaitsAnswer(_ host: Int) -> Bool { host != HostScheduler.files && !breaker(of: host).responds }

  // MARK: Closed hosts

  /// Removes and returns the changes of hosts since the last call, in their order.
  package mutating func takeHostChanges() -> [HostChange] {
    defer { hosts.changes = [] }
    return hosts.changes
  }

  /// Whether hosts that have never answered are held, because this machine seems to have no network.
  package var isMachineHeld: Bool { hosts.machine.isClosed }

  /// Whether other hosts were reached at this time or later, although this machine may have failed.
  package func hasReached(_ failure: HostBreaker.Failure, since time: Int) -> Bool {
    hosts.machine.hasReached(failure, since: time)
  }

  /// The longest time, in milliseconds, that a closed host has waited while no other host answered.
  package var unansweredTime: Int { hosts.unansweredTime }

  /// Whether a host may be asked for an entry of a closed one: it is neither closed nor given up, or nobody has anything left
  /// there and it may be tried again.
  package func isOpen(_ host: Int, now: Int) -> Bool { hosts.isOpen(host, now: now) }

  /// Whether a host with entries left is closed.
  package var hasClosedHosts: Bool { !hosts.closed.isEmpty }

  /// The closed hosts with entries left, the ones closed first before others; `HostScheduler.files` stands for all that have
  /// never answered.
  package var closedHosts: [(host: Int, closed: HostBreaker.Closed)] {
    let all = hosts.closed.compactMap { slot in
      hosts.loads[slot].breaker.closed.map { (host: hosts.loads[slot].number, closed: $0) }
    }
    let machine = hosts.machine.closed.map { [(host: Self.files, closed: $0)] } ?? []
    return (machine + all).sorted { ($0.closed.since, $0.host) < ($1.closed.since, $1.host) }
  }

  /// Whether all entries left are at hosts that wait until they answer, or until this machine has a network.
  package var isCutOff: Bool { jobs.allSatisfy(isCutOff) }

  /// The same for the entries of one job; false when it has none left.
  package func isCutOff(job: Int) -> Bool {
    guard let job = index(of: job).map({ jobs[$0] }), job.upcoming != nil || !job.slots.isEmpty else { return false }
    return isCutOff(job)
  }

  /// Whether all entries left of a job are at hosts that wait until they answer, or that are not asked before `time`; false when it has
  /// none left.
  package func isHeld(job: Int, until time: Int) -> Bool {
    guard let job = index(of: job).map({ jobs[$0] }), job.upcoming == nil, !job.slots.isEmpty else { return false }
    return job.slots.allSatisfy { hosts.loads[$0].breaker.isClosed || hosts.loads[$0].throttle.until >= time }
  }

  private func isCutOff(_ job: JobSites) -> Bool {
    (job.upcoming == nil || hosts.machine.isClosed) && job.slots.allSatisfy { hosts.isHeld($0) }
  }

  /// When and why a host was closed, or all that have never answered (`HostScheduler.files`). Default: nil, it is not
  /// closed.
  package func closed(_ host: Int) -> HostBreaker.Closed? {
    host == Self.files ? hosts.machine.closed : breaker(of: host).closed
  }

  /// Gives up the closed hosts that have waited this long, in milliseconds, while no other host answered.
  package mutating func giveUpUnanswered(after milliseconds: Int, now: Int) {
    let wasMachineClosed = hosts.machine.isClosed
    for slot in hosts.giveUpUnanswered(after: milliseconds, now: now) { unblock(slot) }
    if wasMachineClosed, !hosts.machine.isClosed { unblockAll() }
  }

  /// The number of downloads that only wait for hosts that do not answer.
  package func silentDownloads(now: Int) -> Int { hosts.silentDownloads(now: now) }

  /// The hosts of a job that are on hold, and until when.
  package func held(job: Int, now: Int) -> [(host: Int, until: Int)] {
    guard let index = index(of: job) else { return [] }
    return jobs[index].slots.compactMap { slot in
      let until = hosts.loads[slot].throttle.until
      return until > now ? (hosts.loads[slot].number, until) : nil
    }
  }

  /// When the next wait of an entry or a host ends, or ended since the last call of `choose`; nil when none waits.
  package var nextChange: Int? { [timers.first?.due, hosts.countDue].compactMap { $0 }.min() }

  /// The number of entries of a job that wait to be tried again.
  package func waitingRetries(job: Int) -> Int { index(of: job).map { jobs[$0].waitingRetries } ?? 0 }

  /// Sets a timer for a host at which no download may start now.
  mutating func setTimer(for slot: Int, _ now: Int) {
    var nextStart = hosts.loads[slot].nextStart
    if hosts.loads[slot].breaker.isClosed, !hosts.hasTrialRoom {
      nextStart = max(nextStart, now + HostTable.countInterval)
    }
    if !hosts.mayAsk(slot, now: now) {
      nextStart = max(nextStart, hosts.machine.trialDue ?? now + HostTable.countInterval)
    }
    guard nextStart > now, hosts.loads[slot].timer != nextStart else { return }
    hosts.loads[slot].timer = nextStart
    timers.insert(Timer(due: nextStart, host: hosts.loads[slot].number, retry: nil))
  }

  private mutating func unblockAll() { for (_, slot) in hosts.used { unblock(slot) } }

  /// Ranks the sites that wait for a host again.
  mutating func unblock(_ slot: Int) {
    guard !hosts.loads[slot].blocked.isEmpty else { return }
    let quanta = hosts.loads[slot].quanta
    for blocked in hosts.loads[slot].blocked {
      if let index = index(of: blocked.job) { jobs[index].unblock(blocked.site, quanta: quanta) }
    }
    hosts.loads[slot].blocked.removeAll(keepingCapacity: true)
  }

  /// The slots of hosts at which jobs that are not paused have entries. Default: nil, no job is paused.
  private var triedSlots: Set<Int>? {
    guard jobs.contains(where: \.isPaused) else { return nil }
    return Set(jobs.filter { !$0.isPaused }.flatMap(\.slots))
  }

  /// Handles the timers that are due, and counts time for closed hosts.
  package mutating func wake(_ now: Int) {
    let wasMachineClosed = hosts.machine.isClosed
    if hosts.countDue.map({ $0 <= now }) == true {
      let tried = triedSlots
      let hasOthers = jobs.contains { !$0.isPaused && ($0.upcoming != nil || !$0.slots.isEmpty) }
      let givenUp = hosts.countTime(now: now) { slot in
        guard let tried else { return true }
        return slot.map(tried.contains) ?? hasOthers
      }
      for slot in givenUp { unblock(slot) }
    }
    if wasMachineClosed, !hosts.machine.isClosed { unblockAll() }
    while let timer = timers.first, timer.due <= now {
      _ = timers.popFirst()
      guard let slot = hosts.slot(of: timer.host) else { continue }
      if let (job, retry) = timer.retry {
        guard let index = index(of: job), let site = jobs[index].site(at: retry.host) else { continue }
        jobs[index].retryIsDue(retry, at: site)
        if retry.hasMirror { arrived(index, site) }
        rank(index, site)
      } else {
        if hosts.loads[slot].timer == timer.due { hosts.loads[slot].timer = nil }
        unblock(slot)
      }
    }
  }
}
