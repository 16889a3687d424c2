import System
import Testing

@testable import Scheduling

@Suite struct SilentHostTests {
  private let places = HostLimit(connections: 6, streams: 32)

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
      host: 2, spent: 10_000, began: 0, .none, contact: .failed(.silent), now: 10_000, backoff: Backoff(retries: 3))
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

  private let answered = HostScheduler.Contact.answered(firstByte: 0.1, isMultiplexed: false)

  private func end(_ scheduler: inout HostScheduler, _ contact: HostScheduler.Contact, began: Int, now: Int) {
    _ = scheduler.downloadEnded(
      host: 1, spent: now - began, began: began, .none, contact: contact, now: now, backoff: Backoff(retries: 3))
  }

  @Test func `a closed host at which nothing is left is open for others once it may be tried again`() {
    var scheduler = started()
    end(&scheduler, answered, began: 0, now: 10)
    end(&scheduler, .failed(.refused), began: 20, now: 30)
    #expect(!scheduler.isOpen(1, now: 100_000), "what is left there tries it")
    scheduler.remove(job: 1, now: 40)
    #expect(!scheduler.isOpen(1, now: 40) && scheduler.isOpen(1, now: 30_000) && scheduler.isOpen(2, now: 0))
  }

  @Test func `a host that has begun to answer is not silent, and has all its places`() {
    var scheduler = started()
    #expect(scheduler.awaitsAnswer(1) && !scheduler.awaitsAnswer(HostScheduler.files))
    #expect(scheduler.choose(now: 100, perHost: places) == nil)
    scheduler.answerBegan(1)
    #expect(!scheduler.awaitsAnswer(1))
    #expect(scheduler.choose(now: 100, perHost: places)?.kind == .host(1))
    #expect(scheduler.silentDownloads(now: 60_000) == 0)
    end(&scheduler, answered, began: 0, now: 60_000)
    #expect(scheduler.silentDownloads(now: 60_000) == 0)
  }

  @Test func `a silence of a host that answers makes only later downloads silent`() {
    var scheduler = started()
    scheduler.answerBegan(1)
    for position in 2..<5 {
      scheduler.start(job: 1, host: 1, next: EntryKey(priority: 2, position: position + 1), now: 100)
    }
    end(&scheduler, .failed(.silent), began: 100, now: 10_000)
    #expect(scheduler.awaitsAnswer(1))
    #expect(scheduler.silentDownloads(now: 10_000) == 0)
    scheduler.start(job: 1, host: 1, next: nil, now: 10_001)
    #expect(scheduler.silentDownloads(now: 10_001) == 1)
    end(&scheduler, .unknown, began: 100, now: 10_002)
    #expect(scheduler.silentDownloads(now: 10_002) == 1)
    scheduler.answerBegan(1)
    #expect(scheduler.silentDownloads(now: 10_003) == 0)
  }

  @Test func `each wait for a first answer is one of its own`() {
    var scheduler = started()
    for _ in 0..<2 { end(&scheduler, .unknown, began: 0, now: 3000) }
    scheduler.start(job: 1, host: 1, next: nil, now: 4000)
    #expect(scheduler.silentDownloads(now: 5999) == 0)
    #expect(scheduler.silentDownloads(now: 6000) == 1)
  }
}

@Suite struct HostConcurrencyTests {
  /// Has a host answer with so many at once as it may have.
  private func run(
    _ host: inout HostConcurrency, _ places: HostLimit, answers: Int = 2000, isMultiplexed: Bool = false,
    firstByte: (Int) -> Double
  ) {
    for _ in 0..<answers {
      let room = host.room(places)
      host.answered(firstByte: firstByte(room), isMultiplexed: isMultiplexed, downloading: room)
    }
  }

  private let auto = HostLimit(connections: 6, streams: 32)

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
