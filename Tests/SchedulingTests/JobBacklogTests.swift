import Testing

@testable import Scheduling

/// What keeps a job from starting more is known without looking at what waits.
@Suite struct JobBacklogTests {
  private let backoff = Backoff(retries: 3)

  /// A job that starts at a host as often as it may.
  private func filled(
    host: Int = 1, entries: Int = 100, allowance: HostAllowance = .standard, perHost: HostPlaces = 6
  ) -> HostScheduler {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    fill(&scheduler, host: host, entries: entries, allowance: allowance, perHost: perHost)
    return scheduler
  }

  private func key(_ position: Int) -> EntryKey { EntryKey(priority: 0, position: position) }

  private func fill(
    _ scheduler: inout HostScheduler, host: Int, entries: Int, allowance: HostAllowance = .standard, perHost: HostPlaces
  ) {
    scheduler.admit(job: 1, host: host, next: key(host * 1000), now: 0, allowance: allowance)
    var position = host * 1000
    while case .host(host)? = scheduler.choose(now: 0, perHost: perHost)?.kind {
      position += 1
      scheduler.start(job: 1, host: host, next: position < host * 1000 + entries ? key(position) : nil, now: 0)
    }
  }

  @Test(arguments: [1, 6]) func `a host that has as many downloads as it may is named`(perHost: Int) {
    let places = HostPlaces(fixed: perHost)
    var scheduler = filled(perHost: places)
    let backlog = scheduler.backlogs(perHost: places, now: 0)[1]
    #expect(backlog?.shortage == .places(perHost))
    #expect(backlog?.host == 1 && backlog?.onlyHost == 1)
    #expect(backlog?.isReady == false)
  }

  @Test func `a host with room for all that is left is none`() {
    var scheduler = filled(entries: 6)
    #expect(scheduler.backlogs(perHost: 6, now: 0)[1]?.shortage == nil)
  }

  @Test func `of several hosts none is named, and of those without a remedy none counts`() {
    var scheduler = filled(host: 1, allowance: HostAllowance(downloads: 2))
    fill(&scheduler, host: 2, entries: 100, perHost: 6)
    let backlog = scheduler.backlogs(perHost: 6, now: 0)[1]
    #expect(backlog?.shortage == .places(6))
    #expect(backlog?.host == nil && backlog?.onlyHost == nil)
  }

  @Test func `a rule's number and its interval are told apart from the limit of all hosts`() {
    var scheduler = filled(allowance: HostAllowance(downloads: 2))
    #expect(scheduler.backlogs(perHost: 6, now: 0)[1]?.shortage == .rule(2))
    var paced = filled(allowance: HostAllowance(interval: 1000))
    #expect(paced.backlogs(perHost: 6, now: 0)[1]?.shortage == .interval)
    paced.downloadBegan(host: 1, at: 0)
    _ = paced.choose(now: 10, perHost: 6)
    #expect(paced.backlogs(perHost: 6, now: 10)[1]?.shortage == .interval)
  }

  @Test func `a host that does not answer is asked by few, which is no limit`() {
    let places = HostPlaces(connections: 6, streams: 32)
    var scheduler = filled(perHost: places)
    #expect(scheduler.backlogs(perHost: places, now: 0)[1]?.shortage == .silence)
  }

  @Test func `a host that refuses is on hold, for entries that wait to be tried again, too`() {
    var scheduler = filled(entries: 7)
    _ = scheduler.downloadEnded(host: 1, spent: 10, began: 0, .refused(30), now: 10, backoff: backoff)
    scheduler.retry(
      Retry(key: key(1000), host: 1), job: 1, due: 30_010, now: 10)
    scheduler.finished(job: 1, host: 1, now: 10)
    _ = scheduler.choose(now: 10, perHost: 6)
    let backlog = scheduler.backlogs(perHost: 6, now: 10)[1]
    #expect(backlog?.shortage == .hold && backlog?.host == 1)

    var last = filled(entries: 1)
    _ = last.downloadEnded(host: 1, spent: 10, began: 0, .refused(30), now: 10, backoff: backoff)
    last.retry(Retry(key: key(1000), host: 1), job: 1, due: 30_010, now: 10)
    last.finished(job: 1, host: 1, now: 10)
    _ = last.choose(now: 10, perHost: 6)
    let waiting = last.backlogs(perHost: 6, now: 10)[1]
    #expect(waiting?.shortage == nil && waiting?.retries == 1)
    #expect(waiting?.isHeld == true && waiting?.host == 1)
  }

  @Test func `what may start is ready`() {
    var scheduler = HostScheduler()
    scheduler.add(job: 1)
    scheduler.setUpcoming(key(0), job: 1)
    #expect(scheduler.backlogs(perHost: 6, now: 0)[1]?.isReady == true)
  }

  @Test func `a host that has room again, and one at which nothing is left, wait for nothing`() {
    var scheduler = filled(entries: 7)
    #expect(scheduler.backlogs(perHost: 6, now: 0)[1]?.shortage == .places(6))
    _ = scheduler.downloadEnded(host: 1, spent: 10, began: 0, .served, now: 10, backoff: backoff)
    #expect(scheduler.backlogs(perHost: 6, now: 10)[1]?.shortage == nil)
    #expect(scheduler.backlogs(perHost: 6, now: 10)[1]?.isReady == true)
    scheduler.start(job: 1, host: 1, next: nil, now: 10)
    for _ in 0..<6 {
      _ = scheduler.downloadEnded(host: 1, spent: 10, began: 0, .served, now: 20, backoff: backoff)
    }
    for _ in 0..<7 { scheduler.finished(job: 1, host: 1, now: 20) }
    #expect(scheduler.backlogs(perHost: 6, now: 20)[1] == JobBacklog())
  }
}
