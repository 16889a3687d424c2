import System
import Testing

@testable import Scheduling

/// Failures of entries that fail by themselves, beside those of their host.
@Suite struct OwnFailureTests {
  private static var answering: HostBreaker {
    var host = HostBreaker()
    host.answered(began: 0, now: 1)
    return host
  }

  private var host = answering

  private mutating func fail(_ failure: HostBreaker.Failure = .broken, isOwn: Bool = true, now: Int) -> Bool {
    host.failed(failure, began: now, isTrial: false, isOwn: isOwn, now: now)
  }

  @Test mutating func `bad answers to such entries close their host only when it answers nothing else`() {
    for round in 0..<3 {
      let now = 100 * (round + 1)
      for turn in 1..<HostBreaker.ownFailureLimit {
        let isClosed = fail(now: now + turn)
        #expect(!isClosed && !host.isClosed)
      }
      host.answered(began: now + 50, now: now + 51)
    }
    for turn in 1..<HostBreaker.ownFailureLimit { _ = fail(now: 900 + turn) }
    let isClosed = fail(now: 950)
    #expect(isClosed && host.isClosed)
  }

  @Test(arguments: [HostBreaker.Failure.refused, .unresolved, .noNetwork, .noProxy, .unanswered])
  mutating func `a host that is not reached is closed by any entry`(failure: HostBreaker.Failure) {
    let isClosed = fail(failure, now: 10)
    #expect(isClosed)
  }

  @Test mutating func `another entry closes it`() {
    let isClosed = (fail(now: 10), fail(isOwn: false, now: 11))
    #expect(isClosed == (false, true))
  }

  @Test mutating func `a host is not given up before a request has tried it`() {
    _ = fail(isOwn: false, now: 10)
    host.trialBegan(now: 1010)
    host.trialEnded()
    let early = host.pass(HostBreaker.longest, othersAnswer: true, now: 70_000)
    #expect(!early && host.isClosed)
    host.trialBegan(now: 70_001)
    host.failed(.broken, began: 70_001, isTrial: true, now: 70_002)
    let isGivenUp = host.pass(1, othersAnswer: true, now: 70_003)
    #expect(isGivenUp)
  }

  @Test func `new entries go between those that fail by themselves, so that answers show how the host is`() {
    var scheduler = HostScheduler()
    let key = { EntryKey(priority: 2, position: $0) }
    scheduler.add(job: 1)
    scheduler.admit(job: 1, host: 1, next: key(10), now: 0)
    for position in 0..<3 {
      scheduler.retry(Retry(key: key(position), host: 1, tries: .max), job: 1, due: 0, now: 0)
    }
    var order: [Int] = []
    var next = 10
    while let choice = scheduler.choose(now: 1, perHost: HostLimit(fixed: 100)), order.count < 20 {
      switch choice.kind {
      case .retry(let retry):
        order.append(retry.key.position)
        scheduler.startRetry(retry, job: 1, now: 1)
      default:
        order.append(next)
        next += 1
        scheduler.start(job: 1, host: 1, next: next < 17 ? key(next) : nil, now: 1)
      }
    }
    #expect(order == [0, 10, 11, 12, 13, 14, 1, 15, 16, 2])
  }
}
