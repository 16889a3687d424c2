import Testing

@testable import Scheduling

/// One job at several hosts.
@Suite struct HostSchedulerTests {
  /// Works through hosts, each with so many entries of so many milliseconds, that stand in the manifest host by host.
  private static func work(_ hosts: [(entries: Int, milliseconds: Int)], places: Int) -> Simulation {
    var simulation = Simulation(places: places)
    simulation.add(
      job: 1,
      hosts.enumerated().map { .init(host: $0 + 1, entries: $1.entries, milliseconds: $1.milliseconds) })
    simulation.run()
    return simulation
  }

  @Test(arguments: [6, 16])
  func `a fast host at the end is done long before a slow one at the beginning`(places: Int) throws {
    let result = Self.work([(10_000, 2000), (100, 10)], places: places)
    #expect(try #require(result.finished[2]) <= 20_000)
    #expect(result.atOnce.values.allSatisfy { $0 <= 6 })
    #expect(result.ended.all == 10_100)
  }

  @Test func `slow hosts that could fill all places share them with one that comes last`() throws {
    let slow = Array(repeating: (entries: 500, milliseconds: 2000), count: 5)
    let result = Self.work(slow + [(100, 10)], places: 16)
    #expect(try #require(result.finished[6]) <= 20_000)
  }

  @Test func `of many slow hosts none is done at the expense of the others`() {
    let result = Self.work(Array(repeating: (entries: 50, milliseconds: 2000), count: 40), places: 16)
    let all = 40 * 50 * 2000 / 16
    #expect(result.finished.count == 40)
    #expect(result.finished.values.allSatisfy { $0 >= all / 2 })
  }

  @Test func `fast hosts are worked on one after the other, so that connections stay warm`() throws {
    let result = Self.work(Array(repeating: (entries: 50, milliseconds: 10), count: 40), places: 6)
    let finished = (1...40).compactMap { result.finished[$0] }
    #expect(finished == finished.sorted() && finished.count == 40)
    #expect(try #require(finished.first) <= 100)
  }

  @Test func `a host of many entries that are served fast does not fall behind for their number`() throws {
    let result = Self.work([(600, 200)] + Array(repeating: (entries: 30, milliseconds: 200), count: 100), places: 16)
    #expect(try #require(result.finished[1]) <= 600 * 200 / 6 + 1000)
  }

  @Test func `priority comes before the time lost at a host`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.start(job: 1, host: 1, next: .init(priority: 0, position: 5), now: 0)
    scheduler.leave(job: 1, host: 1, spent: 1_000_000, at: 0)
    scheduler.setUpcoming(.init(priority: 1, position: 0), job: 1)
    #expect(scheduler.choose(now: 0, perHost: 6)?.kind == .host(1))
    scheduler.setUpcoming(.init(priority: 0, position: 9), job: 1)
    #expect(scheduler.choose(now: 0, perHost: 6)?.kind == .upcoming)
  }

  @Test func `what is not downloaded from a server has no limit`() {
    var simulation = Simulation(places: 100)
    simulation.add(job: 1, [.init(host: HostScheduler.files, entries: 100, milliseconds: 10)])
    simulation.fill()
    #expect(simulation.started.count == 100)
  }

  @Test func `tens of thousands of hosts that are held cost nothing while they are`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    for host in 1...20_000 {
      scheduler.start(job: 1, host: host, next: .init(priority: 2, position: 200_000 + host), now: 0)
      scheduler.leave(job: 1, host: host, .refused(60), at: 0)
    }
    // Going over all of them each time would take minutes.
    let choices = (0..<20_000).map { scheduler.choose(now: $0, perHost: 6) }
    #expect(choices.allSatisfy { $0 == nil })
    #expect(scheduler.nextChange == 60_000)
    #expect(scheduler.held(job: 1, now: 59_999).count == 20_000)
    #expect(scheduler.choose(now: 60_000, perHost: 6)?.kind == .host(1))
    #expect(scheduler.held(job: 1, now: 60_000).isEmpty)
    scheduler.remove(job: 1, now: 60_000)
    #expect(scheduler.hosts.count == 0 && scheduler.nextChange == nil)
  }

  @Test func `a host that has nothing left is forgotten, even while it is held`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.start(job: 1, host: 1, next: nil, now: 0)
    scheduler.leave(job: 1, host: 1, .refused(60), at: 0)
    #expect(scheduler.held(job: 1, now: 1).isEmpty)
    #expect(scheduler.hosts.count == 0)
    #expect(scheduler.choose(now: 60_000, perHost: 6) == nil)
    #expect(scheduler.nextChange == nil)
  }

  @Test func `what a host allows outlives its job`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.start(job: 1, host: 1, next: nil, now: 0)
    scheduler.leave(job: 1, host: 1, .refused(60), at: 0)
    scheduler.remove(job: 1, now: 0)
    #expect(scheduler.knows(1) && !scheduler.knows(2))
    scheduler.add(job: 2)
    scheduler.admit(job: 2, host: 1, next: .init(priority: 2, position: 0), now: 10)
    #expect(scheduler.choose(now: 59_999, perHost: 6) == nil)
    #expect(scheduler.nextChange == 60_000)
    #expect(scheduler.throttle(of: 1).refusals == 0, "another job's entries have all their tries")
    #expect(scheduler.choose(now: 60_000, perHost: 6) == .init(job: 2, kind: .host(1)))
  }
}

extension HostScheduler {
  /// Records the end of a download and of its entry.
  mutating func leave(
    job: Int, host: Int, spent milliseconds: Int = 1, _ answer: Answer = .served, at now: Int
  ) {
    _ = downloadEnded(
      host: host, spent: milliseconds, began: now - milliseconds, answer, now: now, backoff: Backoff(retries: 3))
    finished(job: job, host: host, now: now)
  }
}
