import Testing

@testable import Scheduling

/// Jobs that only wait for hosts, and many jobs at once.
@Suite struct HeldJobTests {
  private var scheduler = HostScheduler()

  private func key(_ position: Int) -> EntryKey { EntryKey(priority: 2, position: position) }

  /// Ends an entry of job 1 that has just started.
  private mutating func end(
    _ host: Int, _ contact: HostScheduler.Contact, _ answer: HostScheduler.Answer = .none, now: Int = 100
  ) {
    _ = scheduler.downloadEnded(
      host: host, spent: 0, began: now, answer, contact: contact, now: now, backoff: Backoff(retries: 1))
    scheduler.finished(job: 1, host: host, now: now)
  }

  @Test mutating func `a job is held while all that it has left is at hosts that are closed, or on hold for long`() {
    scheduler.add(job: 1)
    scheduler.start(job: 1, host: 1, next: key(1), now: 0)
    end(1, .answered(firstByte: nil, isMultiplexed: false), now: 0)
    scheduler.start(job: 1, host: 1, next: key(2), now: 100)
    end(1, .failed(.refused))
    #expect(scheduler.closed(1) != nil)
    #expect(scheduler.isHeld(job: 1, until: 5100))
    scheduler.start(job: 1, host: 2, next: key(9), now: 100)
    #expect(!scheduler.isHeld(job: 1, until: 5100), "another host may be asked")
    end(2, .unknown, .refused(5))
    #expect(scheduler.isHeld(job: 1, until: 5100) && !scheduler.isHeld(job: 1, until: 5101))
    scheduler.setUpcoming(key(8), job: 1)
    #expect(!scheduler.isHeld(job: 1, until: 5100), "a host was not asked yet")
    #expect(!scheduler.isHeld(job: 7, until: 0))
  }

  @Test mutating func `jobs are found whatever the order in which they come and go`() {
    for job in [5, 3, 9, 1, 7] { scheduler.add(job: job) }
    for job in [5, 3, 9, 1, 7] { scheduler.admit(job: job, host: job, next: key(job), now: 0) }
    scheduler.remove(job: 3, now: 0)
    #expect((0...10).filter { scheduler.has(job: $0, at: $0) } == [1, 5, 7, 9])
    scheduler.add(job: 3)
    #expect((0...10).filter { scheduler.next(of: $0, job: $0) != nil } == [1, 5, 7, 9])
  }
}
