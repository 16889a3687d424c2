import Testing

@testable import Scheduling

/// The limits of hosts hold for all jobs together.
@Suite struct HostLimitsTests {
  @Test(arguments: [2, 3, 16], [1, 6])
  func `a host has no more downloads at once than it may, however many jobs ask it`(jobs: Int, perHost: Int) {
    var simulation = Simulation(places: 40, perHost: perHost)
    for job in 1...jobs {
      simulation.add(
        job: job,
        [.init(host: 1, entries: 50, milliseconds: 200), .init(host: 2, entries: 50, milliseconds: 30)])
    }
    simulation.run()
    #expect(simulation.atOnce == [1: perHost, 2: perHost])
    #expect(simulation.ended.all == jobs * 100)
  }

  @Test func `downloads of a job that was removed count until they end`() {
    var simulation = Simulation(places: 40)
    for job in 1...3 { simulation.add(job: job, [.init(host: 1, entries: 20, milliseconds: 200)]) }
    simulation.fill()
    simulation.remove(job: 1)
    simulation.remove(job: 2)
    simulation.fill()
    #expect(simulation.started.count == 6)
    simulation.run()
    #expect(simulation.atOnce == [1: 6])
    #expect(simulation.started.count { $0.job == 3 } == 20)
    #expect(simulation.started.count == 20 + simulation.started.prefix(6).count { $0.job != 3 })
    simulation.remove(job: 3)
    #expect(simulation.scheduler.hosts.count == 0)
  }

  @Test func `a host that only a removed job's downloads keep busy is not exceeded by a new job`() {
    var simulation = Simulation(places: 40)
    simulation.add(job: 1, [.init(host: 1, entries: 20, milliseconds: 200)])
    simulation.fill()
    simulation.remove(job: 1)
    simulation.add(job: 2, [.init(host: 1, entries: 20, milliseconds: 200)])
    simulation.run()
    #expect(simulation.atOnce == [1: 6])
    #expect(simulation.ended.all == 26)
  }

  @Test func `a job whose only host is held delays no other`() {
    /// The time that 500 entries of another job take.
    func time(besideHeld isBesideHeld: Bool) -> Int {
      var simulation = Simulation(places: 6)
      simulation.answer = { entry, now in entry.host == 1 && now < 60_000 ? .refused(60) : .served }
      if isBesideHeld {
        simulation.add(job: 1, [.init(host: 1, entries: 5000, milliseconds: 1, priority: 0)])
        simulation.run { $0.now >= 1 }
        #expect(simulation.scheduler.held(job: 1, now: 1).count == 1)
      }
      let start = simulation.now
      simulation.add(job: 2, [.init(host: 2, entries: 500, milliseconds: 200)])
      simulation.run { $0.started.count { $0.job == 2 } == 500 }
      return simulation.now - start
    }
    #expect(time(besideHeld: true) == time(besideHeld: false))
  }

  @Test func `when a hold ends one probe starts, over all jobs`() {
    var scheduler = HostScheduler()
    for job in 1...3 {
      scheduler.add(job: job)
      scheduler.start(job: job, host: 1, next: .init(priority: 2, position: 1), now: 0)
    }
    for job in 1...3 { scheduler.leave(job: job, host: 1, .refused(60), at: 1) }
    #expect(scheduler.choose(now: 60_000, perHost: 6) == nil)
    #expect(scheduler.nextChange == 60_001)
    #expect((1...3).allSatisfy { scheduler.held(job: $0, now: 60_000).map(\.until) == [60_001] })
    let probe = scheduler.choose(now: 60_001, perHost: 6)
    #expect(probe?.kind == .host(1))
    guard let job = probe?.job else { return }
    scheduler.start(job: job, host: 1, next: .init(priority: 2, position: 2), now: 60_001)
    #expect(scheduler.choose(now: 120_000, perHost: 6) == nil)
    scheduler.leave(job: job, host: 1, at: 120_000)
    let next = scheduler.choose(now: 120_000, perHost: 6)
    #expect(next?.kind == .host(1) && next?.job != job, "another job's turn is next")
  }

  @Test func `nothing is left of jobs that were removed and downloads that have ended`() {
    var simulation = Simulation(places: 20)
    simulation.answer = { entry, now in
      entry.host.isMultiple(of: 5) && (now / 100).isMultiple(of: 3) ? .refused(1) : .served
    }
    for job in 1...5 {
      simulation.add(
        job: job, (1...30).map { .init(host: $0 + job, entries: 10, milliseconds: 50 + $0, priority: $0 % 4) })
    }
    simulation.run { $0.ended.all >= 700 }
    for job in 1...5 { simulation.remove(job: job) }
    #expect(simulation.scheduler.hosts.count <= 20, "only downloads that run")
    #expect(simulation.scheduler.nextChange == nil)
    simulation.run()
    #expect(simulation.scheduler.hosts.count == 0)
    #expect((1...35).filter { simulation.scheduler.knows($0) }.allSatisfy { $0.isMultiple(of: 5) })
  }
}
