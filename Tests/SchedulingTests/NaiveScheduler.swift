import Scheduling

/// What `HostScheduler` promises, by going over everything each time.
struct NaiveScheduler {
  struct Site {
    var next: EntryKey?
    var retries: [(due: Int, retry: Retry)] = []
    var due: [Retry] = []
    var released: [EntryKey] = []
    var inProgress = 0
    var lastStart = 0

    var firstDue: Retry? { due.min() }
    var key: EntryKey? { [next, firstDue?.key, released.min()].compactMap { $0 }.min() }
    var isDone: Bool { key == nil && retries.isEmpty && inProgress == 0 }
  }

  struct Job {
    var lastStart: Int
    var upcoming: EntryKey?
    var sites: [Int: Site] = [:]
  }

  struct Host {
    var downloading = 0
    var spent = 0
    var throttle = Throttle()
  }

  private typealias Rank = (priority: Int, quanta: Int, position: Int)

  let perHost: Int
  private(set) var jobs: [Int: Job] = [:]
  private(set) var hosts: [Int: Host] = [:]
  private var starts = 0
  private var added = 0

  init(perHost: Int) { self.perHost = perHost }

  mutating func add(_ job: Int) {
    added += 1
    jobs[job] = Job(lastStart: -added)
  }

  mutating func remove(_ job: Int) {
    jobs[job] = nil
    forgetHosts()
  }

  mutating func setUpcoming(_ key: EntryKey?, _ job: Int) { jobs[job]?.upcoming = key }

  func isInUse(_ host: Int) -> Bool {
    hosts[host].map { $0.downloading > 0 } ?? false || jobs.values.contains { $0.sites[host] != nil }
  }

  func knows(_ host: Int) -> Bool { isInUse(host) || hosts[host].map { !$0.throttle.isFree } ?? false }

  mutating func choose(now: Int, lowest: Int) -> HostScheduler.Choice? {
    for (number, job) in jobs {
      for host in job.sites.keys {
        jobs[number]?.sites[host]?.due += job.sites[host]?.retries.filter { $0.due <= now }.map(\.retry) ?? []
        jobs[number]?.sites[host]?.retries.removeAll { $0.due <= now }
      }
    }
    let heads = jobs.compactMap { number, job in head(job, now).map { (job: number, host: $0.host, rank: $0.rank) } }
    let start = { [jobs] (job: Int) in jobs[job]?.lastStart ?? 0 }
    let first = heads.filter { $0.rank.priority <= lowest }
      .min { ($0.rank.priority, start($0.job)) < ($1.rank.priority, start($1.job)) }
    guard let first else { return nil }
    guard let host = first.host else { return .init(job: first.job, kind: .upcoming) }
    let startHere = { [jobs] (job: Int) in jobs[job]?.sites[host]?.lastStart ?? 0 }
    let here = heads.filter { $0.host == host && $0.rank.priority == first.rank.priority }
      .min { (startHere($0.job), start($0.job)) < (startHere($1.job), start($1.job)) }
    guard let job = here?.job, let site = jobs[job]?.sites[host] else { return nil }
    if let key = site.released.min(), key == site.key { return .init(job: job, kind: .released(key, host: host)) }
    if let retry = site.firstDue, retry.key == site.key { return .init(job: job, kind: .retry(retry)) }
    return .init(job: job, kind: .host(host))
  }

  private func head(_ job: Job, _ now: Int) -> (host: Int?, rank: Rank)? {
    var heads: [(host: Int?, rank: Rank)] = []
    for (host, site) in job.sites where hasRoom(host, now) {
      guard let key = site.key else { continue }
      let quanta = (hosts[host]?.spent ?? 0) / HostScheduler.quantum
      heads.append((host, (key.priority, quanta, key.position)))
    }
    if let key = job.upcoming { heads.append((nil, (key.priority, 0, key.position))) }
    return heads.min { $0.rank < $1.rank }
  }

  private func hasRoom(_ number: Int, _ now: Int) -> Bool {
    guard number != HostScheduler.files, let host = hosts[number] else { return true }
    return host.downloading < min(perHost, host.throttle.room) && host.throttle.nextStart <= now
  }

  mutating func start(_ job: Int, _ host: Int, next: EntryKey?, now: Int) {
    jobs[job]?.sites[host, default: Site()].next = next
    start(job, host, now)
  }

  mutating func startRetry(_ job: Int, _ retry: Retry, now: Int) {
    jobs[job]?.sites[retry.host]?.due.removeAll { $0 == retry }
    start(job, retry.host, now)
  }

  mutating func release(_ job: Int, _ host: Int, _ key: EntryKey) {
    jobs[job]?.sites[host, default: Site()].released.append(key)
    hosts[host, default: Host()].spent += 0
  }

  mutating func startReleased(_ job: Int, _ host: Int, _ key: EntryKey, now: Int) {
    jobs[job]?.sites[host]?.released.removeAll { $0 == key }
    start(job, host, now)
  }

  private mutating func start(_ job: Int, _ host: Int, _ now: Int) {
    starts += 1
    jobs[job]?.lastStart = starts
    jobs[job]?.sites[host]?.lastStart = starts
    jobs[job]?.sites[host]?.inProgress += 1
    hosts[host, default: Host()].downloading += 1
    hosts[host]?.throttle.started(now: now)
  }

  mutating func admit(_ job: Int, _ host: Int, next: EntryKey?) {
    jobs[job]?.sites[host, default: Site()].next = next
    hosts[host, default: Host()].spent += 0
  }

  mutating func downloadEnded(
    _ host: Int, spent: Int, began: Int, _ answer: HostScheduler.Answer, now: Int, backoff: Backoff
  ) {
    hosts[host]?.downloading -= 1
    hosts[host]?.spent += max(0, spent - HostScheduler.usual)
    switch answer {
    case .served: _ = hosts[host]?.throttle.served(began: began)
    case .refused(let asked):
      _ = hosts[host]?.throttle.refused(asked: asked, began: began, now: now, backoff: backoff)
    case .none: break
    }
    forgetHosts()
  }

  mutating func retry(_ retry: Retry, _ job: Int, due: Int) {
    jobs[job]?.sites[retry.host, default: Site()].retries.append((due, retry))
    hosts[retry.host, default: Host()].spent += 0
  }

  mutating func finished(_ job: Int, _ host: Int) {
    jobs[job]?.sites[host]?.inProgress -= 1
    if jobs[job]?.sites[host]?.isDone == true { jobs[job]?.sites[host] = nil }
    forgetHosts()
  }

  private mutating func forgetHosts() {
    for (number, host) in hosts where !isInUse(number) {
      hosts[number] = host.throttle.isFree ? nil : Host(throttle: host.throttle.ofEarlierJob)
    }
  }
}
