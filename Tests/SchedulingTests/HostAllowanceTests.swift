import Testing

@testable import Scheduling

/// What the operator allows at a host: downloads at once, and the time between two requests.
@Suite struct HostAllowanceTests {
  private static let paced = HostAllowance(interval: 1340)

  /// One job's entries at host 1, worked through in simulated time: when each request began.
  /// - Parameters:
  ///   - delay: How long an entry waits for a place after it was started.
  ///   - answer: How the host answers a request at a time, after those before it.
  private func requestTimes(
    _ entries: Int, jobs: Int = 1, allowance: HostAllowance, delay: Int, milliseconds: Int,
    answer: ([Int], Int) -> HostScheduler.Answer = { _, _ in .served }
  ) -> [Int] {
    var scheduler = HostScheduler()
    var left = Array(repeating: entries / jobs, count: jobs)
    for job in 0..<jobs { scheduler.add(job: job) }
    for job in 0..<jobs {
      scheduler.admit(job: job, host: 1, next: key(0), now: 0, allowance: allowance)
    }
    var (now, requests): (Int, [Int]) = (0, [])
    var beginnings: [(at: Int, job: Int)] = []
    var endings: [(at: Int, job: Int, answer: HostScheduler.Answer)] = []
    while true {
      while let choice = scheduler.choose(now: now, perHost: 6) {
        switch choice.kind {
        case .retry(let retry): scheduler.startRetry(retry, job: choice.job, now: now)
        default:
          left[choice.job] -= 1
          let next = left[choice.job] > 0 ? key(entries / jobs - left[choice.job]) : nil
          scheduler.start(job: choice.job, host: 1, next: next, now: now)
        }
        beginnings.append((now + delay, choice.job))
      }
      let times = beginnings.map(\.at) + endings.map(\.at) + [scheduler.nextChange].compactMap { $0 }
      guard let next = times.min() else { return requests }
      now = max(now, next)
      for beginning in beginnings where beginning.at <= now {
        scheduler.downloadBegan(host: 1, at: now)
        endings.append((now + milliseconds, beginning.job, answer(requests, now)))
        requests.append(now)
      }
      beginnings.removeAll { $0.at <= now }
      for ending in endings where ending.at <= now {
        _ = scheduler.downloadEnded(
          host: 1, spent: milliseconds, began: ending.at - milliseconds, hasBegun: true, ending.answer, now: now,
          backoff: Backoff(retries: 3))
        if case .refused = ending.answer {
          let retry = Retry(key: key(0), host: 1)
          scheduler.retry(retry, job: ending.job, due: scheduler.throttle(of: 1).until, now: now)
        }
        scheduler.finished(job: ending.job, host: 1, now: now)
      }
      endings.removeAll { $0.at <= now }
    }
  }

  private func key(_ position: Int) -> EntryKey { EntryKey(priority: 2, position: position) }

  @Test(arguments: [(1, 0, 200), (1, 100, 5000), (5, 50, 20), (1, 120, 100_000)])
  func `a host that allows 45 requests a minute never refuses one, and 90 % of what it allows is used`(
    jobs: Int, delay: Int, milliseconds: Int
  ) {
    var refusals = 0
    let requests = requestTimes(
      500, jobs: jobs, allowance: HostAllowance(downloads: 100, interval: 1340), delay: delay,
      milliseconds: milliseconds
    ) { requests, now in
      guard requests.count(where: { $0 > now - 60_000 }) >= 45 else { return .served }
      refusals += 1
      return .refused(nil)
    }
    #expect(refusals == 0)
    #expect(requests.count == 500)
    #expect(zip(requests, requests.dropFirst()).allSatisfy { $1 - $0 >= 1340 })
    let minutes = Double((requests.last ?? 0) - (requests.first ?? 0)) / 60_000
    #expect(Double(requests.count - 1) / minutes >= 0.9 * 45)
  }

  @Test func `without an interval the same host does refuse`() {
    var refusals = 0
    _ = requestTimes(100, allowance: .standard, delay: 0, milliseconds: 200) { requests, now in
      guard requests.count(where: { $0 > now - 60_000 }) >= 45 else { return .served }
      refusals += 1
      return .refused(nil)
    }
    #expect(refusals > 0)
  }

  @Test func `a wait for a place does not bring two requests together`() {
    let requests = requestTimes(20, allowance: Self.paced, delay: 4000, milliseconds: 10)
    #expect(zip(requests, requests.dropFirst()).allSatisfy { $1 - $0 >= 1340 })
  }

  @Test func `an entry that asks nothing does not count`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.start(job: 1, host: 1, next: key(1), now: 0, allowance: Self.paced)
    #expect(scheduler.hasInterval(1) && !scheduler.hasInterval(2))
    #expect(scheduler.choose(now: 10, perHost: 6) == nil, "it may begin its request at any time")
    scheduler.downloadBegan(host: 1, at: nil)
    #expect(scheduler.choose(now: 10, perHost: 6)?.kind == .host(1))
    scheduler.start(job: 1, host: 1, next: key(2), now: 10)
    _ = scheduler.downloadEnded(
      host: 1, spent: 0, began: 10, .none, now: 11, backoff: Backoff(retries: 3))
    #expect(scheduler.choose(now: 11, perHost: 6)?.kind == .host(1))
  }

  @Test func `the interval holds for the next job, too`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.start(job: 1, host: 1, next: nil, now: 0, allowance: Self.paced)
    scheduler.downloadBegan(host: 1, at: 5)
    _ = scheduler.downloadEnded(
      host: 1, spent: 1, began: 5, hasBegun: true, .served, now: 6, backoff: Backoff(retries: 3))
    scheduler.finished(job: 1, host: 1, now: 6)
    scheduler.remove(job: 1, now: 6)
    #expect(scheduler.knows(1))
    scheduler.add(job: 2)
    scheduler.admit(job: 2, host: 1, next: key(0), now: 100, allowance: Self.paced)
    #expect(scheduler.choose(now: 1344, perHost: 6) == nil)
    #expect(scheduler.nextChange == 1345)
    #expect(scheduler.choose(now: 1345, perHost: 6)?.job == 2)
  }

  @Test(arguments: [1, 4, 20])
  func `a host has as many downloads at once as its rule says, others as many as all`(allowed: Int) {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    for host in 1...2 {
      let allowance = host == 1 ? HostAllowance(downloads: allowed) : .standard
      scheduler.admit(job: 1, host: host, next: key(100 * host), now: 0, allowance: allowance)
    }
    var starts: [Int: Int] = [:]
    while case .host(let host)? = scheduler.choose(now: 0, perHost: 6)?.kind {
      starts[host, default: 0] += 1
      scheduler.start(job: 1, host: host, next: key(100 * host + starts[host, default: 0]), now: 0)
    }
    #expect(starts == [1: allowed, 2: 6])
  }

  @Test func `a change of the rules counts at once for hosts in use`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.start(job: 1, host: 1, next: key(1), now: 0, allowance: HostAllowance(downloads: 1, interval: 60_000))
    scheduler.downloadBegan(host: 1, at: 0)
    #expect(scheduler.choose(now: 10, perHost: 6) == nil)
    scheduler.setAllowances { _ in HostAllowance(downloads: 2) }
    #expect(scheduler.choose(now: 10, perHost: 6)?.kind == .host(1))
    scheduler.setAllowances { _ in HostAllowance(downloads: 2, interval: 50) }
    #expect(scheduler.choose(now: 49, perHost: 6) == nil)
    #expect(scheduler.choose(now: 50, perHost: 6)?.kind == .host(1))
    #expect(scheduler.hostsInUse == [1])
  }
}
