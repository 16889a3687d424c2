import Testing

@testable import Scheduling

/// Several jobs that share hosts and places.
@Suite struct JobTurnsTests {
  private static func large(at host: Int = 1, milliseconds: Int = 200) -> Simulation.Load {
    .init(host: host, entries: 5000, milliseconds: milliseconds)
  }

  @Test(arguments: [6, 16])
  func `a small job beside a large one has started before ten more of the large one have`(places: Int) throws {
    var simulation = Simulation(places: places)
    simulation.add(job: 1, [Self.large()])
    simulation.run { $0.now >= 1000 }
    let before = simulation.started.count
    simulation.add(job: 2, [.init(host: 1, entries: 3, milliseconds: 200)])
    simulation.run { $0.started.count { $0.job == 2 } == 3 || $0.started.count >= before + 100 }
    let last = try #require(simulation.started[before...].lastIndex { $0.job == 2 })
    #expect(simulation.started[before...last].count { $0.job == 2 } == 3)
    #expect(simulation.started[before...last].count { $0.job == 1 } < 10)
  }

  @Test func `sixteen jobs at one host get equal shares`() {
    var simulation = Simulation(places: 6)
    for job in 1...16 { simulation.add(job: job, [.init(host: 1, entries: 200, milliseconds: 100)]) }
    simulation.run { $0.started.count >= 1600 }
    for job in 1...16 { #expect((99...101).contains(simulation.started.prefix(1600).count { $0.job == job })) }
  }

  @Test func `sixteen jobs at hosts of their own get equal shares of the places`() {
    var simulation = Simulation(places: 8)
    for job in 1...16 { simulation.add(job: job, [.init(host: job, entries: 200, milliseconds: 100)]) }
    simulation.run { $0.started.count >= 1600 }
    for job in 1...16 { #expect((99...101).contains(simulation.started.prefix(1600).count { $0.job == job })) }
  }

  @Test(arguments: [7, 51, 190])
  func `a job that is served at another host keeps its share of this one`(milliseconds: Int) {
    // One place each, so that they become free one after the other.
    var simulation = Simulation(places: 2, perHost: 1)
    simulation.add(job: 1, [Self.large()])
    simulation.add(job: 2, [Self.large(), Self.large(at: 2, milliseconds: milliseconds)])
    simulation.run { $0.started.count { $0.host == 1 } >= 100 }
    let shares = [1, 2].map { job in simulation.started.count { $0.host == 1 && $0.job == job } }
    #expect(abs(shares[0] - shares[1]) <= 2, "\(shares)")
    #expect(simulation.started.contains { $0.host == 2 })
  }

  @Test func `an entry of higher priority goes first, whatever its job`() {
    var simulation = Simulation(places: 6)
    simulation.add(job: 1, [Self.large()])
    simulation.add(job: 2, [Self.large(at: 2)])
    simulation.run { $0.now >= 1000 }
    let before = simulation.started.count
    simulation.add(
      job: 3,
      [
        .init(host: 1, entries: 20, milliseconds: 200, priority: 0),
        .init(host: 3, entries: 20, milliseconds: 200, priority: 0),
      ])
    simulation.run { $0.started.count >= before + 60 }
    #expect(simulation.started[before..<before + 40].allSatisfy { $0.job == 3 })
    #expect(!simulation.started[(before + 40)...].contains { $0.job == 3 })
  }

  @Test func `priorities within a job come before turns`() {
    var simulation = Simulation(places: 1)
    simulation.add(job: 1, [Self.large()])
    simulation.add(
      job: 2,
      [
        .init(host: 2, entries: 2, milliseconds: 10, priority: 3),
        .init(host: 1, entries: 2, milliseconds: 10, priority: 1),
      ])
    simulation.run { $0.started.count >= 200 }
    #expect(simulation.started.filter { $0.job == 2 }.map(\.host) == [1, 1])
    #expect(simulation.started.prefix(3).count { $0.job == 2 } == 2)
  }

  @Test(arguments: [(0, false), (1, false), (2, true), (3, true)])
  func `an entry below the lowest priority is not chosen`(lowest: Int, isChosen: Bool) {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.setUpcoming(.init(priority: 2, position: 0), job: 1)
    #expect((scheduler.choose(now: 0, perHost: 6, lowest: lowest) != nil) == isChosen)
    scheduler.start(job: 1, host: 1, next: .init(priority: 2, position: 1), now: 0)
    scheduler.setUpcoming(nil, job: 1)
    #expect((scheduler.choose(now: 0, perHost: 6, lowest: lowest) != nil) == isChosen)
    #expect(scheduler.choose(now: 0, perHost: 6) == .init(job: 1, kind: .host(1)), "and is not lost")
  }

  @Test func `a paused job starts nothing, at a host that others use neither, and goes on where it was`() {
    var scheduler = HostScheduler()
    for job in [1, 2] {
      scheduler.add(job: job)
      scheduler.admit(job: job, host: 1, next: .init(priority: job, position: 0), now: 0)
    }
    #expect(scheduler.choose(now: 0, perHost: 6) == .init(job: 1, kind: .host(1)))
    scheduler.pause(jobs: [1])
    #expect(scheduler.choose(now: 0, perHost: 6) == .init(job: 2, kind: .host(1)))
    scheduler.pause(jobs: [1, 2])
    #expect(scheduler.choose(now: 0, perHost: 6) == nil)
    scheduler.pause(jobs: [])
    #expect(scheduler.choose(now: 0, perHost: 6) == .init(job: 1, kind: .host(1)))
  }

  @Test(arguments: [true, false])
  func `a closed host that only a paused job would try is not given up meanwhile`(isPaused: Bool) {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    func end(_ contact: HostScheduler.Contact, _ scheduler: inout HostScheduler, isTrial: Bool, at now: Int) {
      _ = scheduler.downloadEnded(
        host: 1, spent: 1, began: now - 1, .none, contact: contact, isTrial: isTrial, now: now,
        backoff: Backoff(retries: 3))
      scheduler.finished(job: 1, host: 1, now: now)
    }
    let next = EntryKey(priority: 2, position: 1)
    #expect(scheduler.start(job: 1, host: 1, next: next, now: 0) == .request)
    end(.answered(firstByte: 0, isMultiplexed: false), &scheduler, isTrial: false, at: 10)
    #expect(scheduler.start(job: 1, host: 1, next: next, now: 20) == .request)
    end(.failed(.broken), &scheduler, isTrial: false, at: 30)
    #expect(scheduler.breaker(of: 1).isClosed)
    #expect(scheduler.choose(now: 2000, perHost: 6) == .init(job: 1, kind: .host(1)))
    #expect(scheduler.start(job: 1, host: 1, next: next, now: 2000) == .trial)
    end(.failed(.broken), &scheduler, isTrial: true, at: 2100)

    if isPaused { scheduler.pause(jobs: [1]) }
    for second in 3...200 { _ = scheduler.choose(now: second * 1000, perHost: 6) }
    #expect(scheduler.breaker(of: 1).isGivenUp == !isPaused)
    scheduler.pause(jobs: [])
    #expect(scheduler.choose(now: 200_000, perHost: 6) == .init(job: 1, kind: .host(1)))
    #expect(scheduler.start(job: 1, host: 1, next: next, now: 200_000) == .trial)
  }

  @Test func `time that one job has lost at a host ranks it behind for another`() {
    var scheduler = HostScheduler()
    for job in [1, 2] { scheduler.add(job: job) }
    scheduler.start(job: 1, host: 1, next: .init(priority: 2, position: 1), now: 0)
    scheduler.admit(job: 2, host: 1, next: .init(priority: 2, position: 0), now: 0)
    scheduler.admit(job: 2, host: 2, next: .init(priority: 2, position: 1), now: 0)
    #expect(scheduler.choose(now: 0, perHost: 6) == .init(job: 2, kind: .host(1)))
    scheduler.leave(job: 1, host: 1, spent: HostScheduler.usual + HostScheduler.quantum - 1, at: 0)
    #expect(scheduler.choose(now: 0, perHost: 6) == .init(job: 2, kind: .host(1)))
    scheduler.start(job: 2, host: 1, next: .init(priority: 2, position: 0), now: 0)
    scheduler.start(job: 1, host: 1, next: nil, now: 0)
    scheduler.leave(job: 1, host: 1, spent: HostScheduler.usual + 1, at: 0)
    #expect(scheduler.choose(now: 0, perHost: 6) == .init(job: 2, kind: .host(2)))
  }
}
