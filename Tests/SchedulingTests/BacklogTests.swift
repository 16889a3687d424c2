import System
import Testing

@testable import Scheduling

/// What keeps a job from starting more is known without looking at what waits.
@Suite struct BacklogTests {
  private let backoff = Backoff(retries: 3)

  private func key(_ position: Int) -> EntryKey { EntryKey(priority: 0, position: position) }

  /// A job that starts at hosts as often as it may.
  private func filled(hosts: [Int] = [1], entries: Int, perHost: HostLimit = 6) -> HostScheduler {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    for host in hosts {
      scheduler.admit(job: 1, host: host, next: key(host * 1000), now: 0)
      var position = host * 1000
      while case .host(host)? = scheduler.choose(now: 0, perHost: perHost)?.kind {
        position += 1
        scheduler.start(job: 1, host: host, next: position < host * 1000 + entries ? key(position) : nil, now: 0)
      }
    }
    return scheduler
  }

  private func backlog(
    isReady: Bool = false, blocked: Int? = nil, host: Int? = nil, retries: Int = 0
  ) -> HostScheduler.Backlog {
    var backlog = HostScheduler.Backlog()
    (backlog.isReady, backlog.blocked, backlog.host, backlog.retries) = (isReady, blocked, host, retries)
    return backlog
  }

  @Test(arguments: [1, 6]) func `a host that has as many downloads as it may is named`(perHost: Int) {
    var scheduler = filled(entries: 100, perHost: HostLimit(fixed: perHost))
    #expect(scheduler.backlogs()[1] == backlog(blocked: 1, host: 1))
  }

  @Test func `a host with room for all that is left does not wait`() {
    var scheduler = filled(entries: 6)
    #expect(scheduler.backlogs()[1] == backlog(host: 1))
  }

  @Test func `of several hosts none is the only one`() {
    var scheduler = filled(hosts: [1, 2], entries: 100)
    let found = scheduler.backlogs()[1]
    #expect(found?.blocked != nil && found?.host == nil)
  }

  @Test func `what may start is ready`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.setUpcoming(key(0), job: 1)
    #expect(scheduler.backlogs()[1] == backlog(isReady: true))
  }

  @Test func `a host that has room again has an entry ready, then waits for retries, then for nothing`() {
    var scheduler = filled(entries: 7)
    #expect(scheduler.backlogs()[1] == backlog(blocked: 1, host: 1))
    _ = scheduler.downloadEnded(host: 1, spent: 10, began: 0, .served, now: 10, backoff: backoff)
    #expect(scheduler.backlogs()[1] == backlog(isReady: true, host: 1))
    scheduler.start(job: 1, host: 1, next: nil, now: 10)
    for _ in 0..<6 {
      _ = scheduler.downloadEnded(host: 1, spent: 10, began: 0, .served, now: 20, backoff: backoff)
    }
    scheduler.retry(Retry(key: key(1000), host: 1), job: 1, due: 100, now: 20)
    for _ in 0..<7 { scheduler.finished(job: 1, host: 1, now: 20) }
    #expect(scheduler.backlogs()[1] == backlog(host: 1, retries: 1))
    scheduler.remove(job: 1, now: 20)
    #expect(scheduler.backlogs() == [:])
  }
}
