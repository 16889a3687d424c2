import System

/// Decides which entry starts next, over all live jobs.
///
/// First by priority; then the jobs take turns, also at each host; then comes the host whose downloads have exceeded the
/// usual time by the least, to ten seconds, of those that have room; then the entry that comes first in its manifest. So a
/// small job beside a large one is done in the time of a few entries, each manifest is worked on in its order, connections
/// stay warm, and slow hosts fall behind the others instead of occupying all places. The limits of a host hold across jobs.
///
/// It holds the hosts that have been started and have something left: a few, however many the manifests name. Jobs and hosts
/// are numbers that the caller chooses. Times are milliseconds of any clock.
package struct HostScheduler {
  /// What starts next.
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

    package init(job: Int, kind: Kind) {
      self.job = job
      self.kind = kind
    }
  }

  /// What a download says of whether its host can be reached, for `HostBreaker`. How much the host can bear is `Answer`.
  package enum Contact: Equatable, Sendable {
    /// It answered, to the answer's end.
    /// - Parameters:
    ///   - firstByte: Seconds from the request to the answer; nil when that is not known.
    ///   - isMultiplexed: Whether the connection carries several requests at once.
    case answered(firstByte: Double?, isMultiplexed: Bool)
    case failed(HostBreaker.Failure)
    /// Nothing.
    case unknown

    /// Default: nil, the host did not fail.
    package var failure: HostBreaker.Failure? { if case .failed(let failure) = self { failure } else { nil } }

    /// Whether nothing came until the time was over.
    package var isSilence: Bool { failure?.isSilence == true }
  }

  /// What is to be done with an entry that starts.
  package enum Admission: Equatable, Sendable {
    case request
    /// Its request tries whether the host answers again.
    case trial
    /// It fails without a request: its host was given up.
    case failure
  }

  /// What a download says of how much its host can bear, for `Throttle`. Whether the host can be reached is `Contact`.
  package enum Answer: Equatable, Sendable {
    case served
    /// The host asked for a hold, of so many seconds if it said so.
    case refused(Double?)
    /// The host did not answer, or in a way that says nothing about how much it can bear.
    case none
  }

  /// The number of the host of everything that is not downloaded from a server: it has no limit.
  package static let files = 0

  /// A difference of less than this, in milliseconds, does not rank a host behind another.
  package static let quantum = 10_000

  /// What a download may take, in milliseconds, without ranking its host behind others. Otherwise a host with many entries
  /// fell behind for their number, and would be the last to end.
  package static let usual = 1000

  /// The time, in milliseconds, after which the downloads of a host that has not answered take no place from others.
  package static let silentAfter = 2000

  var jobs: [JobSites] = []
  var hosts = HostTable()
  var timers = PriorityQueue<Timer>()

  /// Starts so far, and how many jobs were added.
  private var starts = 0
  private var added = 0

  package init() {}

  // MARK: Jobs

  /// Adds a job, whose turn is next.
  package mutating func add(job: Int) {
    added += 1
    jobs.append(JobSites(number: job, lastStart: -added))
  }

  /// Removes a job with its retries. Its downloads that have not ended still count for their hosts.
  package mutating func remove(job: Int, now: Int) {
    guard let place = place(of: job) else { return }
    for slot in jobs.remove(at: place).slots { hosts.detach(job, from: slot, now: now) }
    timers.removeAll { timer in
      timer.retry.map { $0.job == job } ?? (hosts.slot(of: timer.host) == nil)
    }
  }

  /// Sets the first entry of the job's next host that was not started; nil when there is none.
  package mutating func setUpcoming(_ key: EntryKey?, job: Int) {
    if let place = place(of: job) { jobs[place].upcoming = key }
  }

  func place(of job: Int) -> Int? { jobs.firstIndex { $0.number == job } }

  // MARK: Choosing

  /// What starts now; nil when nothing may.
  /// - Parameters:
  ///   - perHost: Downloads at once from one host, unless its allowance has another number.
  ///   - lowest: The lowest priority that may start.
  package mutating func choose(now: Int, perHost: HostLimit, lowest: Int = .max) -> Choice? {
    wake(now)
    var best: (place: Int, head: JobSites.Head)?
    for place in jobs.indices {
      findHead(of: place, now, perHost)
      guard let head = jobs[place].head, head.priority <= lowest else { continue }
      if let found = best {
        guard head.priority <= found.head.priority else { continue }
        if head.priority == found.head.priority, jobs[found.place].lastStart < jobs[place].lastStart { continue }
      }
      best = (place, head)
    }
    guard let (place, head) = best else { return nil }
    guard let site = head.site else { return Choice(job: jobs[place].number, kind: .upcoming) }
    return choice(at: jobs[place].sites[site].slot, head.priority)
  }

  /// Of the jobs that are to start an entry of a priority at the same host, the choice of the one whose last start there was
  /// the earliest. Otherwise a job would not get its share of a host while it is served at others.
  private func choice(at slot: Int, _ priority: Int) -> Choice? {
    var first: (start: Int, place: Int, site: Int)?
    for place in jobs.indices {
      guard let head = jobs[place].head, head.priority == priority, let site = head.site else { continue }
      guard jobs[place].sites[site].slot == slot else { continue }
      let start = jobs[place].sites[site].lastStart
      if let found = first, (found.start, jobs[found.place].lastStart) < (start, jobs[place].lastStart) { continue }
      first = (start, place, site)
    }
    guard let (_, place, site) = first else { return nil }
    let isTrial = hosts.loads[slot].breaker.isClosed
    let kind = isTrial ? jobs[place].sites[site].longestWaiting : jobs[place].sites[site].first
    return Choice(job: jobs[place].number, kind: kind)
  }

  /// Finds the first of a job's entries that may start. Hosts without room are out of the ranking until they have some.
  private mutating func findHead(of place: Int, _ now: Int, _ perHost: HostLimit) {
    while let first = jobs[place].first {
      let slot = jobs[place].sites[first.site].slot
      let quanta = hosts.loads[slot].quanta
      if !hosts.mayAsk(slot, now: now)
        || !hosts.loads[slot].hasRoom(perHost, hasTrialRoom: hosts.hasTrialRoom, now: now)
      {
        jobs[place].blockFirst()
        hosts.loads[slot].blocked.append(.init(job: jobs[place].number, site: first.site))
        setTimer(for: slot, now)
      } else if first.rank.quanta != quanta {
        jobs[place].rank(first.site, quanta: quanta)
      } else {
        break
      }
    }
    let isTrialDue = hosts.machine.isTrialDue(now: now)
    jobs[place].findHead(mayAskUnknown: !hosts.machine.isClosed || isTrialDue, prefersUnknown: isTrialDue)
  }

  // MARK: Starting

  /// A job's next new entry at a host, if it has one.
  package func next(of host: Int, job: Int) -> EntryKey? {
    guard let place = place(of: job), let site = jobs[place].site(at: host) else { return nil }
    return jobs[place].sites[site].next
  }

  /// Whether a host is known for anything: entries of a live job, a download, or limits of its own.
  package func knows(_ host: Int) -> Bool { hosts.knows(host) }

  package func has(job: Int, at host: Int) -> Bool { place(of: job).map { jobs[$0].site(at: host) != nil } ?? false }

  /// Records the start of a host's next new entry, and that the job's next turn comes after the others'.
  /// - Parameters:
  ///   - next: The host's next entry after it.
  ///   - allowance: What the operator allows at the host; evaluated when no job has anything there yet.
  @discardableResult
  package mutating func start(
    job: Int, host: Int, next: EntryKey?, now: Int, allowance: @autoclosure () -> HostAllowance = .standard
  ) -> Admission {
    guard let place = place(of: job) else { return .request }
    let site = attach(place, to: host, now, allowance())
    jobs[place].setNext(next, at: site)
    return start(place, site, now)
  }

  /// Records the start of an entry whose retry is due.
  /// - Parameter isPassedOn: Whether its host, which is closed, is not to be asked. Default: it may be.
  @discardableResult
  package mutating func startRetry(_ retry: Retry, job: Int, now: Int, isPassedOn: Bool = false) -> Admission {
    guard let place = place(of: job), let site = jobs[place].site(at: retry.host) else { return .request }
    jobs[place].removeRetry(retry, at: site)
    return start(place, site, now, isPassedOn: isPassedOn)
  }

  /// Records the start of the first of a host's entries that had waited for others.
  @discardableResult
  package mutating func startReleased(job: Int, host: Int, now: Int) -> Admission {
    guard let place = place(of: job), let site = jobs[place].site(at: host) else { return .request }
    jobs[place].popReleased(at: site)
    return start(place, site, now)
  }

  private mutating func start(_ place: Int, _ site: Int, _ now: Int, isPassedOn: Bool = false) -> Admission {
    let slot = jobs[place].sites[site].slot
    starts += 1
    jobs[place].start(at: site, number: starts)
    hosts.loads[slot].beginning += 1
    let admission = hosts.started(slot, now: now, isPassedOn: isPassedOn)
    rank(place, site)
    return admission
  }

  /// Adds a host at which a job has entries that cannot start at once.
  /// - Parameters:
  ///   - next: Its first entry; nil when all it has are retries.
  ///   - allowance: What the operator allows at the host; evaluated when no job has anything there yet.
  package mutating func admit(
    job: Int, host: Int, next: EntryKey?, now: Int, allowance: @autoclosure () -> HostAllowance = .standard
  ) {
    guard let place = place(of: job) else { return }
    let site = attach(place, to: host, now, allowance())
    if let next { jobs[place].setNext(next, at: site) }
    rank(place, site)
  }

  /// Starts an entry that waited for others.
  /// - Parameter allowance: What the operator allows at the host; evaluated when no job has anything there yet.
  package mutating func release(
    _ key: EntryKey, job: Int, host: Int, now: Int, allowance: @autoclosure () -> HostAllowance = .standard
  ) {
    guard let place = place(of: job) else { return }
    let site = attach(place, to: host, now, allowance())
    // Very many may be released at once: those behind the first change no rank.
    if jobs[place].release(key, at: site) { rank(place, site) }
  }

  /// Sets a host's next new entry aside from those behind it.
  /// - Parameter next: The host's next entry after it.
  package mutating func setAside(_ entry: Retry, job: Int, next: EntryKey?) {
    guard let place = place(of: job), let site = jobs[place].site(at: entry.host) else { return }
    jobs[place].setNext(next, at: site)
    jobs[place].setAside(entry, at: site)
    rank(place, site)
  }

  /// Sets the first of a host's entries that had waited for others aside from those behind it.
  package mutating func setAsideReleased(_ entry: Retry, job: Int) {
    guard let place = place(of: job), let site = jobs[place].site(at: entry.host) else { return }
    jobs[place].popReleased(at: site)
    jobs[place].setAside(entry, at: site)
    rank(place, site)
  }

  /// The first of a host's entries that had waited for others; nil when there is none.
  package func firstReleased(of host: Int, job: Int) -> EntryKey? {
    guard let place = place(of: job), let site = jobs[place].site(at: host) else { return nil }
    return jobs[place].sites[site].released.first
  }

  /// Changes whenever a host may have been closed, opened or given up, or another entry of a job with a mirror is due at a host.
  package func mirrorVersion(of host: Int, job: Int) -> MirrorVersion {
    let site = place(of: job).flatMap { place in jobs[place].site(at: host).map { jobs[place].sites[$0] } }
    return MirrorVersion(changes: hosts.changeCount, entries: site?.dueMirrored.ever ?? 0)
  }

  /// As `mirrorVersion` returns it.
  package struct MirrorVersion: Equatable, Sendable {
    fileprivate let changes: Int
    fileprivate let entries: Int
  }

  /// Of a host's entries that are due and have a mirror those that are wanted, the first so many.
  package func mirrored(of host: Int, job: Int, limit: Int, where isWanted: (EntryKey) -> Bool) -> [Retry] {
    guard let place = place(of: job), let site = jobs[place].site(at: host), jobs[place].sites[site].dueMirrored.now > 0
    else { return [] }
    let found = jobs[place].sites[site].dueRetries.elements.filter { $0.hasMirror && isWanted($0.key) }
    return Array(found.sorted().prefix(limit))
  }

  mutating func attach(
    _ place: Int, to host: Int, _ now: Int, _ allowance: @autoclosure () -> HostAllowance
  ) -> Int {
    jobs[place].site(at: host) ?? jobs[place].insert(host: host, slot: hosts.attach(host, now: now, allowance()))
  }

  mutating func rank(_ place: Int, _ site: Int) {
    jobs[place].rank(site, quanta: hosts.loads[jobs[place].sites[site].slot].quanta)
  }
}
