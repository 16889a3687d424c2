import Testing

@testable import Scheduling

@Suite struct RetryTests {
  private static func retry(_ position: Int, priority: Int = 2, host: Int = 1) -> Retry {
    Retry(key: .init(priority: priority, position: position), host: host)
  }

  /// A scheduler with jobs that have each started so many entries of host 1, whose downloads have ended.
  private static func started(jobs: Int, entries: Int) -> HostScheduler {
    var scheduler = HostScheduler()
    for job in 1...jobs {
      scheduler.add(job: job)
      for _ in 0..<entries { scheduler.start(job: job, host: 1, next: nil, now: 0) }
      for _ in 0..<entries {
        _ = scheduler.downloadEnded(
          host: 1, spent: 1, began: 0, .none, now: 1, backoff: Backoff(retries: 3))
      }
    }
    return scheduler
  }

  @Test func `retries come at their time, those that are due in the order of their keys`() {
    var scheduler = Self.started(jobs: 1, entries: 4)
    let waits = [(Self.retry(3), 100), (Self.retry(1), 200), (Self.retry(9, priority: 0), 200), (Self.retry(2), 200)]
    for (retry, due) in waits {
      scheduler.retry(retry, job: 1, due: due, now: 1)
      scheduler.finished(job: 1, host: 1, now: 1)
    }
    #expect(scheduler.waitingRetries(job: 1) == 4)
    #expect(scheduler.nextChange == 100)
    #expect(scheduler.choose(now: 99, perHost: 6) == nil)
    #expect(scheduler.choose(now: 100, perHost: 6)?.kind == .retry(Self.retry(3)))
    #expect(scheduler.waitingRetries(job: 1) == 3)
    var order: [HostScheduler.Choice.Kind] = []
    while let choice = scheduler.choose(now: 200, perHost: 6) {
      order.append(choice.kind)
      if case .retry(let retry) = choice.kind { scheduler.startRetry(retry, job: 1, now: 200) }
    }
    #expect(order == [Self.retry(9, priority: 0), Self.retry(1), Self.retry(2), Self.retry(3)].map { .retry($0) })
    #expect(scheduler.waitingRetries(job: 1) == 0 && scheduler.nextChange == nil)
  }

  @Test func `a retry stands among the new entries of its host by its key`() {
    var scheduler = Self.started(jobs: 1, entries: 1)
    scheduler.retry(Self.retry(4), job: 1, due: 10, now: 1)
    scheduler.finished(job: 1, host: 1, now: 1)
    scheduler.admit(job: 1, host: 1, next: .init(priority: 2, position: 3), now: 1)
    #expect(scheduler.choose(now: 10, perHost: 6)?.kind == .host(1))
    scheduler.start(job: 1, host: 1, next: .init(priority: 2, position: 5), now: 10)
    #expect(scheduler.choose(now: 10, perHost: 6)?.kind == .retry(Self.retry(4)))
    scheduler.startRetry(Self.retry(4), job: 1, now: 10)
    #expect(scheduler.choose(now: 10, perHost: 6)?.kind == .host(1))
    #expect(scheduler.next(of: 1, job: 1) == .init(priority: 2, position: 5))
  }

  @Test func `a retry waits for room at its host`() {
    var scheduler = Self.started(jobs: 2, entries: 1)
    scheduler.retry(Self.retry(0), job: 1, due: 10, now: 1)
    scheduler.finished(job: 1, host: 1, now: 1)
    scheduler.start(job: 2, host: 1, next: nil, now: 2)
    #expect(scheduler.choose(now: 10, perHost: 1) == nil)
    scheduler.leave(job: 2, host: 1, at: 20)
    #expect(scheduler.choose(now: 20, perHost: 1) == .init(job: 1, kind: .retry(Self.retry(0))))
  }

  @Test func `a retry at another host is that host's`() {
    var scheduler = Self.started(jobs: 1, entries: 1)
    scheduler.retry(Self.retry(0, host: 2), job: 1, due: 1, now: 1)
    scheduler.finished(job: 1, host: 1, now: 1)
    #expect(!scheduler.has(job: 1, at: 1) && scheduler.has(job: 1, at: 2))
    #expect(scheduler.choose(now: 1, perHost: 6)?.kind == .retry(Self.retry(0, host: 2)))
  }

  @Test func `each job's retries are its own, and those of a removed one vanish`() {
    var scheduler = Self.started(jobs: 2, entries: 2)
    for job in [1, 2] {
      for (position, due) in [(0, 5), (1, 100)] {
        scheduler.retry(Self.retry(position), job: job, due: due * job, now: 1)
        scheduler.finished(job: job, host: 1, now: 1)
      }
    }
    #expect([1, 2].map { scheduler.waitingRetries(job: $0) } == [2, 2])
    #expect(scheduler.choose(now: 5, perHost: 6)?.job == 1, "the other's are not due")
    #expect([1, 2].map { scheduler.waitingRetries(job: $0) } == [1, 2])
    scheduler.remove(job: 1, now: 6)
    #expect(scheduler.waitingRetries(job: 1) == 0)
    #expect(scheduler.nextChange == 10)
    scheduler.add(job: 1)
    #expect(scheduler.choose(now: 150, perHost: 6)?.job == 2, "a job of the same number does not inherit them")
    #expect(scheduler.nextChange == 200)
    #expect(scheduler.waitingRetries(job: 1) == 0)
  }
}
