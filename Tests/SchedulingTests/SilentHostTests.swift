import Testing

@testable import Scheduling

@Suite struct SilentHostTests {
  private let places = HostPlaces(connections: 6, streams: 32)
  private var host = Reachability()

  private mutating func beSilent(_ times: Int, each: Int = 3000, retries: Int = 3) {
    for turn in 0..<times { host.silent(began: turn * each, now: (turn + 1) * each, retries: retries) }
  }

  @Test mutating func `a host has two places until it has answered, and then all`() {
    #expect(host.room(places, usual: 6) == 2)
    #expect(host.room(4, usual: 4) == 4, "a fixed number is one")
    host.answered()
    #expect(host.room(places, usual: 6) == 6)
  }

  @Test mutating func `after the first silence tries are short`() {
    #expect(host.budget == nil)
    beSilent(1)
    #expect(host.budget == .init(connect: 3000, total: 8000))
    #expect(host.room(4, usual: 4) == 2)
    host.answered()
    #expect(host.budget == nil)
    beSilent(1)
    #expect(host.budget == .init(connect: 3000, total: nil), "it may have large files")
  }

  @Test mutating func `silences at the same time are one`() {
    for _ in 0..<10 { host.silent(began: 0, now: 10_000, retries: 3) }
    #expect(host.silences == 1)
  }

  @Test(arguments: [0, 1, 3]) mutating func `a host that was silent as often as is tried is given up`(retries: Int) {
    beSilent(retries, retries: retries)
    #expect(!host.isGivenUp)
    beSilent(1, retries: retries)
    host.silent(began: 100_000, now: 103_000, retries: retries)
    #expect(host.isGivenUp)
    #expect(host.room(places, usual: 6) == 6)
    #expect(host.budget == .init(connect: 1000, total: 3000))
    host.answered()
    #expect(!host.isGivenUp)
  }

  @Test mutating func `one that has answered is given up only after a minute`() {
    host.answered()
    beSilent(20)
    #expect(!host.isGivenUp)
    beSilent(22)
    #expect(host.isGivenUp)
  }

  @Test func `downloads of silent hosts are counted after two seconds, until they end`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    for host in 1...3 {
      scheduler.start(job: 1, host: host, next: EntryKey(priority: 2, position: host), now: 0)
    }
    _ = scheduler.downloadEnded(
      host: 1, spent: 300, began: 0, .served, contact: .answered(firstByte: 0.3, isMultiplexed: false), now: 300,
      backoff: Backoff(retries: 3))
    scheduler.start(job: 1, host: 1, next: nil, now: 300)
    #expect(scheduler.silentDownloads(now: 1999) == 0)
    #expect(scheduler.silentDownloads(now: 2000) == 2)
    _ = scheduler.downloadEnded(
      host: 2, spent: 10_000, began: 0, .none, contact: .silent, now: 10_000, backoff: Backoff(retries: 3))
    #expect(scheduler.silentDownloads(now: 10_000) == 1)
  }

  /// A scheduler with a job that has started two downloads at host 1, and has more there.
  private func started() -> HostScheduler {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    for position in 0..<2 {
      scheduler.start(job: 1, host: 1, next: EntryKey(priority: 2, position: position + 1), now: 0)
    }
    return scheduler
  }

  private let answered = Reachability.Contact.answered(firstByte: 0.1, isMultiplexed: false)

  private func end(_ scheduler: inout HostScheduler, _ contact: Reachability.Contact, began: Int, now: Int) {
    _ = scheduler.downloadEnded(
      host: 1, spent: now - began, began: began, .none, contact: contact, now: now, backoff: Backoff(retries: 3))
  }

  @Test func `a host that has begun to answer is not silent, and has all its places`() {
    var scheduler = started()
    #expect(scheduler.awaitsAnswer(1) && !scheduler.awaitsAnswer(HostScheduler.files))
    #expect(scheduler.choose(now: 100, perHost: places) == nil)
    scheduler.hostAnswered(1)
    #expect(!scheduler.awaitsAnswer(1))
    #expect(scheduler.choose(now: 100, perHost: places)?.kind == .host(1))
    #expect(scheduler.silentDownloads(now: 60_000) == 0)
    end(&scheduler, answered, began: 0, now: 60_000)
    #expect(scheduler.silentDownloads(now: 60_000) == 0)
  }

  @Test func `a silence of a host that answers makes only later downloads silent`() {
    var scheduler = started()
    scheduler.hostAnswered(1)
    for position in 2..<5 {
      scheduler.start(job: 1, host: 1, next: EntryKey(priority: 2, position: position + 1), now: 100)
    }
    end(&scheduler, .silent, began: 100, now: 10_000)
    #expect(scheduler.awaitsAnswer(1))
    #expect(scheduler.silentDownloads(now: 10_000) == 0)
    scheduler.start(job: 1, host: 1, next: nil, now: 10_001)
    #expect(scheduler.silentDownloads(now: 10_001) == 1)
    end(&scheduler, .unknown, began: 100, now: 10_002)
    #expect(scheduler.silentDownloads(now: 10_002) == 1)
    scheduler.hostAnswered(1)
    #expect(scheduler.silentDownloads(now: 10_003) == 0)
  }

  @Test func `each wait for a first answer is one of its own`() {
    var scheduler = started()
    for _ in 0..<2 { end(&scheduler, .unknown, began: 0, now: 3000) }
    scheduler.start(job: 1, host: 1, next: nil, now: 4000)
    #expect(scheduler.silentDownloads(now: 5999) == 0)
    #expect(scheduler.silentDownloads(now: 6000) == 1)
  }

  @Test func `after an outage the hosts that answered before have all their places at once`() {
    var scheduler = started()
    scheduler.hostAnswered(1)
    scheduler.start(job: 1, host: 1, next: EntryKey(priority: 2, position: 3), now: 100)
    end(&scheduler, .silent, began: 0, now: 10_000)
    #expect(scheduler.choose(now: 10_000, perHost: places) == nil)
    scheduler.forgetSilences()
    #expect(scheduler.choose(now: 10_001, perHost: places)?.kind == .host(1))
    #expect(!scheduler.awaitsAnswer(1))
  }
}

@Suite struct HostConcurrencyTests {
  /// Has a host answer with so many at once as it may have.
  private func run(
    _ host: inout HostConcurrency, _ places: HostPlaces, answers: Int = 2000, isMultiplexed: Bool = false,
    firstByte: (Int) -> Double
  ) {
    for _ in 0..<answers {
      let room = host.room(places)
      host.answered(firstByte: firstByte(room), isMultiplexed: isMultiplexed, downloading: room)
    }
  }

  private let auto = HostPlaces(connections: 6, streams: 32)

  @Test(arguments: [0.001, 0.2, 3]) func `a host whose answers take as long as ever has all places`(seconds: Double) {
    var host = HostConcurrency()
    run(&host, auto) { _ in seconds }
    #expect(host.room(auto) == 6)
  }

  @Test func `with HTTP/2 there are more, step by step`() {
    var host = HostConcurrency()
    #expect(host.room(auto) == 6)
    host.answered(firstByte: 0.2, isMultiplexed: true, downloading: 2)
    #expect(host.room(auto) == 6)
    run(&host, auto, isMultiplexed: true) { _ in 0.2 }
    #expect(host.room(auto) == 32)
  }

  @Test func `a host that slows down with more streams gets fewer`() {
    var host = HostConcurrency()
    run(&host, auto, isMultiplexed: true) { $0 > 12 ? 2 : 0.2 }
    #expect((2...16).contains(host.room(auto)))
  }

  @Test func `one that becomes slow gets two places, and more when it is quick again`() {
    var host = HostConcurrency()
    run(&host, auto) { _ in 0.1 }
    run(&host, auto, answers: 200) { _ in 2 }
    #expect(host.room(auto) == 2)
    run(&host, auto, answers: 200) { _ in 0.1 }
    #expect(host.room(auto) == 6)
  }

  @Test func `a fixed number stays`() {
    var host = HostConcurrency()
    run(&host, 5, isMultiplexed: true) { Double($0) }
    #expect(host.room(5) == 5)
  }
}
