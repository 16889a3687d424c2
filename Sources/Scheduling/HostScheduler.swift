import System

/// Decides which entry starts next, over all live jobs.
///
/// First by priority; then the jobs take turns, also at each host; then comes the host whose downloads have exceeded the
/// usual time by the least, to ten seconds, of those that have room; then the entry that comes first in its manifest. So a
/// small job beside a large one takes the time of a few entries, manifests are processed in order, connections stay warm,
/// and slow hosts fall behind the others instead of occupying all slots. The limits of a host apply across jobs.
///
/// It holds the hosts that have been started and have entries left: a few, however many the manifests name. Jobs and hosts
/// are numbers that the caller chooses. Times are milliseconds of any clock.
package struct HostScheduler {
  /// The next entry to start.
  package struct Choice: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
      /// The first of a host's entries whose retry is due.
      case retry(Retry)
      /// The next new entry of a host.
      case host(Int)
      /// The first of a host's entries that had waited for others.
      case released(EntryKey, host: Int)
      /// The first entry of the job's next host that was not started.
      case upcoming
    }

    package let job: Int
    package let kind: Kind

    package init(job: Int, kind: Kind) { (self.job, self.kind) = (job, kind) }
  }

  /// What a download tells `HostBreaker` about whether its host can be reached. How much the host can bear is `Answer`.
  package enum Contact: Equatable, Sendable {
    /// It answered, to the answer's end.
    /// - Parameters:
    ///   - firstByte: Seconds from the request to the answer; nil when that is not known.
    ///   - isMultiplexed: Whether the connection carries several requests at once.
    case answered(firstByte: Double?, isMultiplexed: Bool)
    case failed(HostBreaker.Failure)
    /// No information.
    case unknown

    /// Default: nil, the host did not fail.
    package var failure: HostBreaker.Failure? { if case .failed(let failure) = self { failure } else { nil } }

    /// Whether nothing arrived within the time limit.
    package var isSilence: Bool { failure?.isSilence == true }
  }

  /// How an entry that starts is processed.
  package enum Admission: Equatable, Sendable {
    case request
    /// Its request tries whether the host answers again.
    case trial
    /// It fails without a request: its host was given up.
    case failure
  }

  /// What a download tells `Throttle` about how many requests its host accepts. Whether the host can be reached is `Contact`.
  package enum Answer: Equatable, Sendable {
    case served
    /// The host asked for a hold, of so many seconds if it said so.
    case refused(Double?)
    /// The host did not answer, or its answer has no such information.
    case none
  }

  /// The host number of all sources that are not downloaded from a server: it has no limit.
  package static let files = 0

  /// A difference smaller than this, in milliseconds, does not rank a host behind another.
  package static let quantum = 10_000

  /// The time, in milliseconds, that a download may take without ranking its host behind others. Without it, a host with many
  /// entries would fall behind only because of their number, and end last.
  package static let usual = 1000

  /// The time, in milliseconds, after which downloads of a host that has not answered take no slot from others.
  package static let silentAfter = 2000

  /// Ordered by number.
  var jobs: [JobSites] = []
  var hosts = HostTable()
  var timers = PriorityQueue<Timer>()

  /// The number of starts so far, and of jobs that were added.
  private var starts = 0
  private var added = 0

  package init() {}

  // MARK: Jobs

  /// Adds a job, whose turn is next.
  package mutating func add(job: Int) {
    added += 1
    jobs.insert(JobSites(number: job, lastStart: -added), at: position(of: job))
  }

  /// Removes a job with its retries. Its downloads that have not ended still count for their hosts.
  package mutating func remove(job: Int, now: Int) {
    guard let index = index(of: job) else { return }
    for slot in jobs.remove(at: index).slots { hosts.detach(job, from: slot, now: now) }
    timers.removeAll { timer in
      timer.retry.map { $0.job == job } ?? (hosts.slot(of: timer.host) == nil)
    }
  }

  /// Sets the first entry of the job's next host that was not started; nil when there is none.
  package mutating func setUpcoming(_ key: EntryKey?, job: Int) {
    if let index = index(of: job) { jobs[index].upcoming = key }
  }

  /// Lets no entries of these jobs start, and those of all others.
  package mutating func pause(jobs paused: Set<Int>) {
    for index in jobs.indices { jobs[index].isPaused = paused.contains(jobs[index].number) }
  }

  func index(of job: Int) -> Int? {
    let index = position(of: job)
    return index < jobs.count && jobs[index].number == job ? index : nil
  }

  /// The number of jobs with lower numbers. Thousands of jobs may wait.
  private func position(of job: Int) -> Int {
    var range = 0..<jobs.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = jobs[middle].number < job ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }

  // MARK: Choosing

  /// Chooses the entry that starts now; nil when none may.
  /// - Parameters:
  ///   - perHost: Downloads at once from one host, unless its allowance has another number.
  ///   - lowest: The lowest priority that may start.
  package mutating func choose(now: Int, perHost: HostLimit, lowest: Int = .max) -> Choice? {
    wake(now)
    var best: (index: Int, head: JobSites.Head)?
    for index in jobs.indices where !jobs[index].isPaused {
      findHead(of: index, now, perHost)
      guard let head = jobs[index].head, head.priority <= lowest else { continue }
      if let found = best {
        guard head.priority <= found.head.priority else { continue }
        if head.priority == found.head.priority, jobs[found.index].lastStart < jobs[index].lastStart { continue }
      }
      best = (index, head)
    }
    guard let (index, head) = best else { return nil }
    guard let site = head.site else { return Choice(job: jobs[index].number, kind: .upcoming) }
    return choice(at: jobs[index].sites[site].slot, head.priority)
  }

  /// Of the jobs that would start an entry of this priority at the same host, chooses the one whose last start there is the
  /// oldest. Without it, a job served at other hosts would not get its share of this one.
  private func choice(at slot: Int, _ priority: Int) -> Choice? {
    var first: (start: Int, index: Int, site: Int)?
    for index in jobs.indices where !jobs[index].isPaused {
      guard let head = jobs[index].head, head.priority == priority, let site = head.site else { continue }
      guard jobs[index].sites[site].slot == slot else { continue }
      let start = jobs[index].sites[site].lastStart
      if let found = first, (found.start, jobs[found.index].lastStart) < (start, jobs[index].lastStart) { continue }
      first = (start, index, site)
    }
    guard let (_, index, site) = first else { return nil }
    let isTrial = hosts.loads[slot].breaker.isClosed
    let kind = isTrial ? jobs[index].sites[site].trial : jobs[index].sites[site].first
    return Choice(job: jobs[index].number, kind: kind)
  }

  /// Finds the first of a job's entries that may start. Removes hosts without room from the ranking until they have some.
  private mutating func findHead(of index: Int, _ now: Int, _ perHost: HostLimit) {
    while let first = jobs[index].first {
      let slot = jobs[index].sites[first.site].slot
      let quanta = hosts.loads[slot].quanta
      if !hosts.mayAsk(slot, now: now)
        || !hosts.loads[slot].hasRoom(perHost, hasTrialRoom: hosts.hasTrialRoom, now: now)
      {
        jobs[index].blockFirst()
        hosts.loads[slot].blocked.append(.init(job: jobs[index].number, site: first.site))
        setTimer(for: slot, now)
      } else if first.rank.quanta != quanta {
        jobs[index].rank(first.site, quanta: quanta)
      } else {
        break
      }
    }
    let isTrialDue = hosts.machine.isTrialDue(now: now)
    jobs[index].findHead(mayAskUnknown: !hosts.machine.isClosed || isTrialDue, prefersUnknown: isTrialDue)
  }

  // MARK: Starting

  /// A job's next new entry at a host, if it has one.
  package func next(of host: Int, job: Int) -> EntryKey? {
    guard let index = index(of: job), let site = jobs[index].site(at: host) else { return nil }
    return jobs[index].sites[site].next
  }

  /// Whether a host is known in any way: by entries of a live job, a download, or its own limits.
  package func knows(_ host: Int) -> Bool { hosts.knows(host) }

  package func has(job: Int, at host: Int) -> Bool { index(of: job).map { jobs[$0].site(at: host) != nil } ?? false }

  /// Records the start of a host's next new entry, after which the job's next turn comes after the others'.
  /// - Parameters:
  ///   - next: The host's next entry after it.
  ///   - allowance: The operator's limits for the host; evaluated when no job has entries there yet.
  @discardableResult
  package mutating func start(
    job: Int, host: Int, next: EntryKey?, now: Int, allowance: @autoclosure () -> HostAllowance = .standard
  ) -> Admission {
    guard let index = index(of: job) else { return .request }
    let site = attach(index, to: host, now, allowance())
    jobs[index].setNext(next, at: site)
    if next != nil { arrived(index, site) }
    return start(index, site, now)
  }

  /// Records the start of an entry whose retry is due.
  /// - Parameter isPassedOn: Whether its host, which is closed, must not be asked. Default: it may be.
  @discardableResult
  package mutating func startRetry(_ retry: Retry, job: Int, now: Int, isPassedOn: Bool = false) -> Admission {
    guard let index = index(of: job), let site = jobs[index].site(at: retry.host) else { return .request }
    jobs[index].removeRetry(retry, at: site)
    return start(index, site, now, isPassedOn: isPassedOn, failsByItself: retry.failsByItself)
  }

  /// Records the start of the first of a host's entries that had waited for others.
  @discardableResult
  package mutating func startReleased(job: Int, host: Int, now: Int) -> Admission {
    guard let index = index(of: job), let site = jobs[index].site(at: host) else { return .request }
    jobs[index].popReleased(at: site)
    return start(index, site, now)
  }

  private mutating func start(
    _ index: Int, _ site: Int, _ now: Int, isPassedOn: Bool = false, failsByItself: Bool = false
  ) -> Admission {
    let slot = jobs[index].sites[site].slot
    starts += 1
    jobs[index].start(at: site, number: starts, failsByItself: failsByItself)
    hosts.loads[slot].beginning += 1
    let admission = hosts.started(slot, now: now, isPassedOn: isPassedOn)
    rank(index, site)
    return admission
  }

  /// Adds a host at which a job has entries that cannot start at once.
  /// - Parameters:
  ///   - next: Its first entry; nil when all of its entries are retries.
  ///   - allowance: The operator's limits for the host; evaluated when no job has entries there yet.
  package mutating func admit(
    job: Int, host: Int, next: EntryKey?, now: Int, allowance: @autoclosure () -> HostAllowance = .standard
  ) {
    guard let index = index(of: job) else { return }
    let site = attach(index, to: host, now, allowance())
    if let next {
      jobs[index].setNext(next, at: site)
      arrived(index, site)
    }
    rank(index, site)
  }

  /// Starts an entry that waited for others.
  /// - Parameter allowance: The operator's limits for the host; evaluated when no job has entries there yet.
  package mutating func release(
    _ key: EntryKey, job: Int, host: Int, now: Int, allowance: @autoclosure () -> HostAllowance = .standard
  ) {
    guard let index = index(of: job) else { return }
    let site = attach(index, to: host, now, allowance())
    arrived(index, site)
    // Very many may be released at once: only the first changes the rank.
    if jobs[index].release(key, at: site) { rank(index, site) }
  }

  /// Sets a host's next new entry aside from those behind it.
  /// - Parameter next: The host's next entry after it.
  package mutating func setAside(_ entry: Retry, job: Int, next: EntryKey?) {
    guard let index = index(of: job), let site = jobs[index].site(at: entry.host) else { return }
    jobs[index].setNext(next, at: site)
    jobs[index].setAside(entry, at: site)
    rank(index, site)
  }

  /// Sets the first of a host's entries that had waited for others aside from those behind it.
  package mutating func setAsideReleased(_ entry: Retry, job: Int) {
    guard let index = index(of: job), let site = jobs[index].site(at: entry.host) else { return }
    jobs[index].popReleased(at: site)
    jobs[index].setAside(entry, at: site)
    rank(index, site)
  }

  /// The first of a host's entries that had waited for others; nil when there is none.
  package func firstReleased(of host: Int, job: Int) -> EntryKey? {
    guard let index = index(of: job), let site = jobs[index].site(at: host) else { return nil }
    return jobs[index].sites[site].released.first
  }

  /// Records that there is another entry at a host.
  mutating func arrived(_ index: Int, _ site: Int) {
    let (host, slot) = (jobs[index].sites[site].host, jobs[index].sites[site].slot)
    if hosts.loads[slot].breaker.isClosed { hosts.mirrorChecks.add(host) }
  }

  /// Removes and returns a closed host at which entries may have got a mirror at an open host, or be new, since it was last
  /// returned; nil when there is none.
  package mutating func nextMirrorCheck(now: Int) -> Int? {
    if hosts.mirrorChecks.isAllDue(now: now) {
      hosts.mirrorChecks.begin(hosts.closed.map { hosts.loads[$0].number }, now: now)
    }
    while let host = hosts.mirrorChecks.next() {
      if let slot = hosts.slot(of: host), hosts.loads[slot].breaker.isClosed { return host }
    }
    return nil
  }

  /// Lets `nextMirrorCheck` return a host again, if it is closed.
  package mutating func checkMirrors(of host: Int) { hosts.mirrorChecks.add(host) }

  /// The jobs with something left at a host.
  package func jobs(at host: Int) -> [Int] { jobs.filter { $0.site(at: host) != nil }.map(\.number) }

  /// The first of a host's due entries with a mirror that are wanted.
  package func mirrored(of host: Int, job: Int, limit: Int, where isWanted: (EntryKey) -> Bool) -> [Retry] {
    guard let index = index(of: job), let site = jobs[index].site(at: host), jobs[index].sites[site].dueMirrored > 0
    else { return [] }
    let found = jobs[index].sites[site].dueRetries.elements.filter { $0.hasMirror && isWanted($0.key) }
    return Array(found.sorted().prefix(limit))
  }

  mutating func attach(
    _ index: Int, to host: Int, _ now: Int, _ allowance: @autoclosure () -> HostAllowance
  ) -> Int {
    jobs[index].site(at: host) ?? jobs[index].insert(host: host, slot: hosts.attach(host, now: now, allowance()))
  }

  mutating func rank(_ index: Int, _ site: Int) {
    jobs[index].rank(site, quanta: hosts.loads[jobs[index].sites[site].slot].quanta)
  }
}
