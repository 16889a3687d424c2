import Scheduling
import Testing

@testable import Darkroom
@testable import Model

/// URLs that a host cannot serve, beside others that it serves.
@Suite struct FailingEntryTests {
  private let jobs = ScheduledJobs()

  @Test func `the trials of a closed host are entries that were not tried, whatever waits before them`() throws {
    try jobs.add(1, Array(repeating: ("a", 2), count: 40))
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.answer(0, now: 10)
    var tried: [Int] = []
    var (now, next) = (11, try jobs.start(perHost: 1, now: 11))
    for _ in 0..<12 {
      let position = try #require(next.first)
      tried.append(position)
      jobs.fail(position, .broken, now: now)
      // The first one counts as its own failure, so that its next try is due; the others wait for the host.
      if tried.count == 1 {
        jobs.scheduler.retry(
          PhotoRecord.ID(run: 1, position: position), attempts: 1, hasHostFailed: true, due: now, now: now)
      } else {
        jobs.scheduler.hold(PhotoRecord.ID(run: 1, position: position), now: now)
      }
      // Entries that were not started are set aside, since they may have mirrors.
      while try jobs.scheduler.passOn(now: now, { _ in }) {}
      now += 15_000
      next = try jobs.start(perHost: 1, now: now)
    }
    #expect(Set(tried).count == 12, "\(tried)")
    #expect(tried.contains { $0 > 20 }, "neighbours in the manifest may have the same fault: \(tried)")
  }

  @Test func `an entry that fails again after its host has served others does not close it`() throws {
    try jobs.add(1, Array(repeating: ("a", 2), count: 6))
    #expect(try jobs.start(perHost: 1) == [0])
    jobs.answer(0, now: 10)
    #expect(try jobs.start(perHost: 2, now: 11) == [1, 2])
    jobs.answer(2, now: 20)
    jobs.fail(1, .broken, now: 21)
    let id = PhotoRecord.ID(run: 1, position: 1)
    #expect(!jobs.scheduler.failsByItself(id) && !jobs.scheduler.hosts.hasClosedHosts)
    jobs.scheduler.retry(id, attempts: 1, hasHostFailed: true, due: 40, now: 21)
    #expect(try jobs.start(perHost: 1, now: 30) == [3])
    jobs.answer(3, now: 35)
    #expect(try jobs.start(perHost: 1, now: 40) == [1])
    #expect(jobs.scheduler.failsByItself(id))
    jobs.fail(1, .broken, now: 50)
    #expect(!jobs.scheduler.hosts.hasClosedHosts)
    jobs.scheduler.finished(id, now: 50)
    #expect(try jobs.start(perHost: 1, now: 51) == [4])
    jobs.fail(4, .broken, now: 60)
    #expect(jobs.scheduler.hosts.hasClosedHosts, "another entry closes it")
  }

  @Test func `nothing is due for dependents of a run that is removed`() throws {
    var dependents = FailingDependents()
    dependents.reject(PhotoRecord(try .sample(1)), now: 0)
    dependents.remove(run: 2)
    #expect(dependents.due == FailingDependents.pause)
    dependents.remove(run: 1)
    #expect(dependents.due == nil && dependents.takeRejected(now: .max).isEmpty)
  }
}
