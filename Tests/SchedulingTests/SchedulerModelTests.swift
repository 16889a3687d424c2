import System
import TestSupport
import Testing

@testable import Scheduling

@Suite struct SchedulerModelTests {
  @Test(arguments: 0..<16 as Range<UInt64>)
  func `random work is done as by going over everything, and nothing is lost or started twice`(seed: UInt64) {
    var work = RandomWork(seed: seed)
    for step in 0..<600 {
      work.step()
      if step.isMultiple(of: 8) { work.compareState() }
      if let difference = work.difference {
        Issue.record("step \(step): \(difference)")
        return
      }
    }
    work.finish()
    #expect(work.difference == nil)
    #expect(work.unfinished.isEmpty)
    #expect(work.scheduler.hosts.count == 0 && work.scheduler.nextChange == nil)
    #expect(work.startedCount > 50, "there was something to compare")
  }
}

/// Random work for a scheduler and a naive one.
private struct RandomWork {
  struct Running {
    let job: Int
    let host: Int
    let key: EntryKey
    let began: Int
    var isDownloading = true
  }

  var scheduler = HostScheduler()
  private var naive: NaiveScheduler
  private var random: SplitMix64
  private let backoff = Backoff(retries: 3)
  private let perHost: Int
  private var now = 0
  private var last = 0
  private var running: [Running] = []
  private(set) var startedCount = 0

  /// What a live job has not started, by host; and the hosts of which it has started nothing.
  private var left: [Int: [Int: [EntryKey]]] = [:]
  private var upcoming: [Int: [Int]] = [:]

  /// What of live jobs waits for others.
  private var waiting: [Int: [EntryKey]] = [:]

  /// The positions of live jobs' entries that have not ended.
  private(set) var unfinished: [Int: Set<Int>] = [:]

  /// What the schedulers do not agree on, or what must not be.
  private(set) var difference: String?

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    perHost = Int.random(in: 1...4, using: &random)
    naive = NaiveScheduler(perHost: perHost)
  }

  mutating func step() {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<3 where left.count < 5: add()
    case 3..<4: remove()
    case 4..<30: now += [0, 1, 50, 3000].randomElement(using: &random) ?? 0
    case 30..<65: start()
    case 65..<82: endDownload()
    case 82..<85: release()
    default: finishEntry(isLast: false)
    }
  }

  /// Works until nothing is left, then removes the jobs.
  mutating func finish() {
    for _ in 0..<100_000 where difference == nil && !unfinished.isEmpty {
      start()
      endDownload()
      finishEntry(isLast: true)
      release()
      now += 100
      for job in unfinished.keys where unfinished[job]?.isEmpty == true {
        unfinished[job] = nil
        remove(job)
      }
    }
    while !running.isEmpty {
      endDownload()
      finishEntry(isLast: true)
    }
    compareState()
  }

  // MARK: Jobs

  private mutating func add() {
    last += 1
    let hosts = (0...6).shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random))
    let priorities = Bool.random(using: &random) ? 2...2 : 0...4
    var keys: [Int: [EntryKey]] = [:]
    let count = Int.random(in: 1...60, using: &random)
    for position in 0..<count {
      let key = EntryKey(priority: Int.random(in: priorities, using: &random), position: position)
      if Int.random(in: 0..<5, using: &random) == 0 {
        waiting[last, default: []].append(key)
      } else {
        keys[hosts.randomElement(using: &random) ?? 0, default: []].append(key)
      }
    }
    left[last] = keys.mapValues { $0.sorted() }
    upcoming[last] = keys.compactMap { host, keys in keys.min().map { (host, $0) } }.sorted { $0.1 < $1.1 }.map(\.0)
    unfinished[last] = Set(0..<count)
    scheduler.add(job: last)
    naive.add(last)
    setUpcoming(last)
  }

  private mutating func remove() {
    guard let job = left.keys.sorted().randomElement(using: &random) else { return }
    remove(job)
  }

  private mutating func remove(_ job: Int) {
    (left[job], upcoming[job], unfinished[job], waiting[job]) = (nil, nil, nil, nil)
    scheduler.remove(job: job, now: now)
    naive.remove(job)
  }

  private mutating func setUpcoming(_ job: Int) {
    while let host = upcoming[job]?.first, scheduler.knows(host) {
      scheduler.admit(job: job, host: host, next: left[job]?[host]?.first, now: now)
      naive.admit(job, host, next: left[job]?[host]?.first)
      upcoming[job]?.removeFirst()
    }
    let key = upcoming[job]?.first.flatMap { left[job]?[$0]?.first }
    scheduler.setUpcoming(key, job: job)
    naive.setUpcoming(key, job)
  }

  // MARK: Entries

  private mutating func start() {
    let lowest = [Int.max, .max, 2, 0].randomElement(using: &random) ?? .max
    let choice = scheduler.choose(now: now, perHost: HostLimit(fixed: perHost), lowest: lowest)
    let expected = naive.choose(now: now, lowest: lowest)
    guard choice == expected else {
      return difference = "\(String(describing: choice)), not \(String(describing: expected))"
    }
    guard let choice else { return }
    switch choice.kind {
    case .retry(let retry):
      scheduler.startRetry(retry, job: choice.job, now: now)
      naive.startRetry(choice.job, retry, now: now)
      started(choice.job, retry.host, retry.key)
    case .released(let key, let host):
      scheduler.startReleased(job: choice.job, host: host, now: now)
      naive.startReleased(choice.job, host, key, now: now)
      started(choice.job, host, key)
    case .host(let host): startNext(choice.job, host)
    case .upcoming:
      guard let host = upcoming[choice.job]?.first else { return difference = "there is no next host" }
      if !scheduler.knows(host) {
        upcoming[choice.job]?.removeFirst()
        startNext(choice.job, host)
      }
      setUpcoming(choice.job)
    }
  }

  /// Has an entry start that waits for others, at any host.
  private mutating func release() {
    guard let job = waiting.keys.sorted().randomElement(using: &random),
      let index = waiting[job]?.indices.randomElement(using: &random), let key = waiting[job]?.remove(at: index)
    else { return }
    if waiting[job]?.isEmpty == true { waiting[job] = nil }
    let host = Int.random(in: 0...6, using: &random)
    scheduler.release(key, job: job, host: host, now: now)
    naive.release(job, host, key)
  }

  private mutating func startNext(_ job: Int, _ host: Int) {
    guard let key = left[job]?[host]?.first else { return difference = "job \(job) has nothing at host \(host)" }
    left[job]?[host]?.removeFirst()
    let next = left[job]?[host]?.first
    scheduler.start(job: job, host: host, next: next, now: now)
    naive.start(job, host, next: next, now: now)
    started(job, host, key)
  }

  private mutating func started(_ job: Int, _ host: Int, _ key: EntryKey) {
    startedCount += 1
    if unfinished[job]?.contains(key.position) != true { difference = "\(key) has ended" }
    if running.contains(where: { $0.job == job && $0.key == key }) { difference = "\(key) has started" }
    running.append(Running(job: job, host: host, key: key, began: now))
    let downloads = running.count { $0.host == host && $0.isDownloading }
    if host != HostScheduler.files, downloads > perHost { difference = "\(downloads) downloads at host \(host)" }
  }

  private mutating func endDownload() {
    guard let index = running.indices.filter({ running[$0].isDownloading }).randomElement(using: &random) else {
      return
    }
    let entry = running[index]
    running[index].isDownloading = false
    let answers: [HostScheduler.Answer] = [.served, .served, .served, .served, .none, .refused(1), .refused(5)]
    // Files have no server that could refuse.
    let answer = entry.host == HostScheduler.files ? .none : answers.randomElement(using: &random) ?? .none
    let spent = Int.random(in: 0...8000, using: &random)
    _ = scheduler.downloadEnded(
      host: entry.host, spent: spent, began: entry.began, answer, now: now, backoff: backoff)
    naive.downloadEnded(entry.host, spent: spent, began: entry.began, answer, now: now, backoff: backoff)
  }

  /// Ends an entry whose download has ended, or has it tried again.
  private mutating func finishEntry(isLast: Bool) {
    let ended = running.indices.filter { !running[$0].isDownloading }
    guard let index = ended.randomElement(using: &random) else { return }
    let entry = running.remove(at: index)
    if !isLast, Int.random(in: 0..<3, using: &random) == 0 {
      let host = Bool.random(using: &random) ? entry.host : Int.random(in: 0...6, using: &random)
      let retry = Retry(key: entry.key, host: host)
      let due = now + ([0, 1, 500, 5000].randomElement(using: &random) ?? 0)
      scheduler.retry(retry, job: entry.job, due: due, now: now)
      naive.retry(retry, entry.job, due: due)
    } else {
      unfinished[entry.job]?.remove(entry.key.position)
    }
    scheduler.finished(job: entry.job, host: entry.host, now: now)
    naive.finished(entry.job, entry.host)
  }

  // MARK: Comparing

  mutating func compareState() {
    for host in 0...6 {
      if scheduler.knows(host) != naive.knows(host) { difference = "host \(host) is known: \(naive.knows(host))" }
      guard naive.isInUse(host), let expected = naive.hosts[host]?.throttle else { continue }
      if scheduler.throttle(of: host) != expected { difference = "\(scheduler.throttle(of: host)), not \(expected)" }
    }
    for (number, job) in naive.jobs {
      let waiting = job.sites.values.reduce(0) { $0 + $1.retries.count }
      if scheduler.waitingRetries(job: number) != waiting { difference = "\(waiting) retries of job \(number) wait" }
      for host in 0...6 where scheduler.has(job: number, at: host) != (job.sites[host] != nil) {
        difference = "job \(number) has something at host \(host): \(job.sites[host] != nil)"
      }
      let held = job.sites.keys.filter { naive.hosts[$0].map { $0.throttle.until > now } ?? false }
      if Set(scheduler.held(job: number, now: now).map(\.host)) != Set(held) { difference = "held are \(held)" }
    }
  }
}
