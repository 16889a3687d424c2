import System
import Testing

@testable import Scheduling

/// Each rule for hosts that stop answering, with a clock of its own.
@Suite struct HostBreakerTests {
  private var host = HostBreaker()

  /// A host that has answered at 0.
  private static var answering: HostBreaker {
    var host = HostBreaker()
    host.answered(began: 0, now: 0)
    return host
  }

  /// One whose request from 100 to 200 failed.
  private static func closed(_ failure: HostBreaker.Failure = .refused) -> HostBreaker {
    var host = answering
    let hasClosed = host.failed(failure, began: 100, isTrial: false, now: 200)
    #expect(hasClosed)
    return host
  }

  static let failures: [HostBreaker.Failure] = [.refused, .unanswered, .silent, .broken]

  @Test(arguments: failures) func `a failure closes a host that has answered`(failure: HostBreaker.Failure) {
    let host = Self.closed(failure)
    #expect(host.isClosed && !host.isGivenUp)
    #expect(host.closed?.since == 200 && host.closed?.failure == failure)
  }

  @Test(arguments: failures) mutating func `a host that has never answered is not closed`(failure: HostBreaker.Failure)
  {
    let isClosed = (host.failed(failure, began: 0, isTrial: false, now: 100), host.isClosed)
    #expect(isClosed == (false, false))
  }

  @Test(arguments: failures)
  mutating func `a failure is the request's own if the host answered another one since`(failure: HostBreaker.Failure) {
    host.answered(began: 300, now: 500)
    #expect(host.hasServed(since: 300) && !host.hasServed(since: 301), "what was under way says little")
    let closes = [300, 301, 499, 500].map { began in host.failed(failure, began: began, isTrial: false, now: 900) }
    // Answers under way still arrive from a host that accepts no connection any more.
    #expect(closes == (failure.isUnreachable ? [false, true, false, false] : [false, false, false, true]))
  }

  @Test func `trials begin 1, 2, 4, 8 and then 15 s after one another, one at a time`() {
    var host = Self.closed()
    var (now, begun): (Int, [Int]) = (200, [])
    for _ in 0..<7 {
      let due = host.trialDue ?? 0
      begun.append(due - now)
      now = due
      host.trialBegan(now: now)
      #expect(host.trialDue == nil, "one is under way")
      host.failed(.refused, began: now, isTrial: true, now: now + 10)
    }
    #expect(begun == [1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
  }

  @Test func `a trial that says nothing is followed by another one`() {
    var host = Self.closed()
    host.trialBegan(now: 1200)
    host.trialEnded()
    #expect(host.isClosed && host.trialDue == 3200)
  }

  @Test func `an answer opens the host`() {
    var host = Self.closed()
    host.trialBegan(now: 1200)
    let hasOpened = [host.answered(began: 1300, now: 1300), host.answered(began: 1400, now: 1400)]
    #expect(hasOpened == [true, false] && host.state == .open && host.trialDue == nil)
  }

  @Test func `a trial is due at once when another host has opened`() {
    var host = Self.closed()
    host.makeTrialDue(now: 300)
    #expect(host.trialDue == 300)
  }

  @Test(arguments: failures) func `a host that other hosts outlive is given up after 60 s`(failure: HostBreaker.Failure)
  {
    var host = Self.closed(failure)
    host.failed(failure, began: 300, isTrial: true, now: 400)
    let givesUp = (1...60).map { host.pass(1000, othersAnswer: true, now: 200 + $0 * 1000) }
    #expect(givesUp == Array(repeating: false, count: 59) + [true])
    #expect(host.isGivenUp)
  }

  @Test func `a host is not given up before it was tried`() {
    var host = Self.closed()
    let givesUp = (1...100).map { host.pass(1000, othersAnswer: true, now: 200 + $0 * 1000) }
    #expect(!givesUp.contains(true))
    host.trialBegan(now: 100_200)
    host.failed(.refused, began: 100_200, isTrial: true, now: 100_300)
    let givesUpThen = host.pass(1000, othersAnswer: true, now: 101_200)
    #expect(givesUpThen)
  }

  @Test(arguments: failures)
  func `while no other host answers, only bad answers count`(failure: HostBreaker.Failure) {
    var host = Self.closed(failure)
    host.failed(failure, began: 300, isTrial: true, now: 400)
    for second in 1...100 { host.pass(1000, othersAnswer: false, now: 200 + second * 1000) }
    #expect(host.isGivenUp == !failure.isUnreachable)
    #expect(host.closed.map(\.unanswered) == (failure.isUnreachable ? 100_000 : nil))
    host.pass(1000, othersAnswer: true, now: 101_200)
    #expect(host.closed.map(\.unanswered) == (failure.isUnreachable ? 0 : nil))
  }

  @Test func `a host that was given up is tried every 15 s, and an answer opens it`() {
    var host = Self.closed()
    host.giveUp(now: 1000)
    #expect(host.trialDue == 16_000)
    host.trialBegan(now: 16_000)
    #expect(host.trialDue == nil)
    host.failed(.refused, began: 16_000, isTrial: true, now: 16_100)
    #expect(host.isGivenUp && host.trialDue == 31_000)
    host.answered(began: 31_100, now: 31_100)
    #expect(host.state == .open)
  }

  @Test(arguments: [HostBreaker.Failure.unanswered, .silent])
  mutating func `a host that has never answered is given up after three silences in a row`(
    failure: HostBreaker.Failure
  ) {
    host.failed(failure, began: 0, isTrial: false, now: 10_000)
    host.failed(failure, began: 0, isTrial: false, now: 10_000)
    #expect(host.silences == 1, "what ends together is one")
    #expect(host.budget == .short(2000), "the tries after it are short")
    host.failed(failure, began: 10_000, isTrial: false, now: 12_000)
    #expect(!host.isGivenUp)
    host.failed(failure, began: 12_000, isTrial: false, now: 14_000)
    #expect(host.isGivenUp)
  }

  @Test mutating func `a host that has never answered is given up after eight refusals in a row`() {
    for turn in 1...7 { host.failed(.refused, began: turn, isTrial: false, now: turn) }
    #expect(!host.isGivenUp && host.budget == .first)
    host.failed(.refused, began: 8, isTrial: false, now: 8)
    #expect(host.isGivenUp)
  }

  @Test(arguments: [HostBreaker.Failure.unresolved, .noNetwork])
  mutating func `what this machine may be to blame for gives no host up`(failure: HostBreaker.Failure) {
    for turn in 1...20 { host.failed(failure, began: turn, isTrial: false, now: turn) }
    #expect(!host.isGivenUp)
  }

  @Test mutating func `an answer ends the shorter limits of a host that has never answered`() {
    #expect(host.budget == .first)
    host.failed(.silent, began: 0, isTrial: false, now: 100)
    host.answerBegan()
    #expect(host.budget == .usual)
    host.failed(.silent, began: 200, isTrial: false, now: 300)
    #expect(host.budget == .short(2000), "the answer did not end")
    host.answered(began: 400, now: 400)
    host.failed(.silent, began: 500, isTrial: false, now: 600)
    #expect(host.budget == .usual, "it is closed now")
  }

  @Test mutating func `an answer that has begun ends the row`() {
    for turn in 1...7 { host.failed(.refused, began: turn, isTrial: false, now: turn) }
    host.answerBegan()
    host.failed(.refused, began: 8, isTrial: false, now: 8)
    #expect(!host.isGivenUp && !host.hasAnswered)
  }
}

/// The same rules over several hosts.
@Suite struct ClosedHostTests {
  private var scheduler = HostScheduler()
  private let answered = HostScheduler.Contact.answered(firstByte: 0.1, isMultiplexed: false)
  private let places = HostLimit(fixed: 4)

  private func key(_ position: Int) -> EntryKey { EntryKey(priority: 2, position: position) }

  private struct Change: Equatable {
    let host: Int
    let kind: HostChange.Kind

    init(_ host: Int, _ kind: HostChange.Kind) { (self.host, self.kind) = (host, kind) }
  }

  private mutating func changes() -> [Change] { scheduler.takeHostChanges().map { Change($0.host, $0.kind) } }

  private mutating func end(
    _ host: Int, _ contact: HostScheduler.Contact, began: Int, isTrial: Bool = false, now: Int
  ) {
    _ = scheduler.downloadEnded(
      host: host, spent: now - began, began: began, .none, contact: contact, isTrial: isTrial, now: now,
      backoff: Backoff(retries: 3))
  }

  /// Hosts that have answered once, each with entries left.
  private mutating func start(hosts: ClosedRange<Int>) {
    scheduler.add(job: 1)
    for host in hosts {
      scheduler.start(job: 1, host: host, next: key(100 + host), now: 0)
      end(host, answered, began: 0, now: 10)
      scheduler.finished(job: 1, host: host, now: 10)
    }
  }

  /// Closes a host: an entry of it fails.
  private mutating func close(_ host: Int, position: Int, now: Int) {
    scheduler.start(job: 1, host: host, next: key(100 + host), now: now)
    end(host, .failed(.refused), began: now, now: now)
    scheduler.retry(Retry(key: key(position), host: host, tries: 1), job: 1, due: now, now: now)
    scheduler.finished(job: 1, host: host, now: now)
  }

  @Test mutating func `a closed host stops no other`() {
    start(hosts: 1...2)
    close(1, position: 0, now: 100)
    let choice = scheduler.choose(now: 100, perHost: places)
    #expect(choice?.kind == .host(2))
    let changes = scheduler.takeHostChanges()
    #expect(changes == [.init(host: 1, kind: .closed(.refused))])
  }

  @Test
  mutating func `the trial of a closed host is an entry that was not tried there, then one with the fewest tries`() {
    start(hosts: 1...1)
    close(1, position: 0, now: 100)
    let (before, first) = (
      scheduler.choose(now: 1099, perHost: places), scheduler.choose(now: 1100, perHost: places)
    )
    #expect(before == nil && first?.kind == .host(1))
    let admission = scheduler.start(job: 1, host: 1, next: nil, now: 1100)
    #expect(admission == .trial)
    let during = scheduler.choose(now: 9000, perHost: places)
    #expect(during == nil, "one at a time")
    end(1, .failed(.refused), began: 1100, isTrial: true, now: 9000)
    scheduler.retry(Retry(key: key(101), host: 1, tries: 1), job: 1, due: 9000, now: 9000)
    scheduler.finished(job: 1, host: 1, now: 9000)
    let second = scheduler.choose(now: 9000, perHost: places)
    #expect(second?.kind == .retry(Retry(key: key(0), host: 1, tries: 1)))
  }

  @Test mutating func `of many closed hosts sixteen are tried at once`() {
    start(hosts: 1...40)
    for host in 1...40 { close(host, position: host, now: 100) }
    var trials = 0
    while case .host(let host)? = scheduler.choose(now: 2000, perHost: places)?.kind {
      if scheduler.start(job: 1, host: host, next: nil, now: 2000) == .trial { trials += 1 }
    }
    #expect(trials == 16)
  }

  @Test mutating func `when a host opens, all closed ones are tried at once`() {
    start(hosts: 1...3)
    for host in 1...2 { close(host, position: host, now: 100) }
    for _ in 1...2 { scheduler.start(job: 1, host: 3, next: nil, now: 100) }
    end(3, .failed(.refused), began: 100, now: 110)
    let early = scheduler.choose(now: 200, perHost: places)
    #expect(early == nil)
    end(3, answered, began: 105, now: 210)
    let choice = scheduler.choose(now: 210, perHost: places)
    #expect(choice != nil)
  }

  @Test mutating func `entries of a host that was given up fail without a request`() {
    start(hosts: 1...2)
    close(1, position: 0, now: 100)
    // The other host's answer is the latest news.
    scheduler.start(job: 1, host: 2, next: nil, now: 100)
    end(2, answered, began: 100, now: 150)
    scheduler.finished(job: 1, host: 2, now: 150)
    var now = 150
    while now < 62_000 {
      now += 1000
      guard scheduler.choose(now: now, perHost: places) != nil else { continue }
      let isTrial = scheduler.start(job: 1, host: 1, next: key(101), now: now) == .trial
      end(1, .failed(.refused), began: now, isTrial: isTrial, now: now)
    }
    let isGivenUp = scheduler.breaker(of: 1).isGivenUp
    #expect(isGivenUp)
    let choice = scheduler.choose(now: now, perHost: places)
    #expect(choice != nil)
    let admission = scheduler.start(job: 1, host: 1, next: nil, now: now)
    #expect(admission == .failure)
  }

  @Test mutating func `a pause is no time for which a host was closed`() {
    start(hosts: 1...2)
    close(1, position: 0, now: 100)
    scheduler.start(job: 1, host: 2, next: nil, now: 100)
    end(2, answered, began: 100, now: 150)
    _ = scheduler.choose(now: 3_600_000, perHost: places)
    let isGivenUp = scheduler.breaker(of: 1).isGivenUp
    #expect(!isGivenUp)
  }

  @Test mutating func `without a name server a host that was not asked yet is tried, and other news ends the hold`() {
    scheduler.add(job: 1)
    scheduler.setUpcoming(key(9), job: 1)
    for host in 1...2 {
      scheduler.start(job: 1, host: host, next: nil, now: 0)
      end(host, .failed(.unresolved), began: 0, now: 10)
      scheduler.retry(Retry(key: key(host), host: host, tries: 1), job: 1, due: 10, now: 10)
      scheduler.finished(job: 1, host: host, now: 10)
    }
    let (isHeld, held) = (scheduler.isMachineHeld, scheduler.choose(now: 10, perHost: places))
    #expect(isHeld && held == nil)
    let trial = scheduler.choose(now: 1010, perHost: places)
    #expect(trial?.kind == .upcoming)
    scheduler.start(job: 1, host: 3, next: nil, now: 1010)
    scheduler.setUpcoming(nil, job: 1)
    let during = scheduler.choose(now: 1010, perHost: places)
    #expect(during == nil, "one at a time")
    end(3, .failed(.refused), began: 1010, now: 1020)
    let (isHeldStill, next) = (scheduler.isMachineHeld, scheduler.choose(now: 1020, perHost: places))
    #expect(!isHeldStill && next != nil)
  }

  /// Two hosts that could not be resolved, one after the other.
  private mutating func holdMachine() {
    scheduler.add(job: 1)
    for host in 1...2 {
      scheduler.start(job: 1, host: host, next: key(100 + host), now: 0)
      end(host, .failed(.unresolved), began: 0, now: 10)
      scheduler.retry(Retry(key: key(host), host: host, tries: 1), job: 1, due: 10, now: 10)
      scheduler.finished(job: 1, host: host, now: 10)
    }
    let told = changes()
    #expect(told == [Change(HostScheduler.files, .closed(.unresolved))])
  }

  @Test mutating func `hosts that wait for a name server take turns in trying`() {
    holdMachine()
    var (now, tried): (Int, [Int]) = (10, [])
    while tried.count < 4, now < 100_000 {
      now += 500
      guard let choice = scheduler.choose(now: now, perHost: places), case .retry(let retry) = choice.kind else {
        continue
      }
      tried.append(retry.host)
      scheduler.startRetry(retry, job: 1, now: now)
      end(retry.host, .failed(.unresolved), began: now, now: now)
      scheduler.retry(retry, job: 1, due: now, now: now)
      scheduler.finished(job: 1, host: retry.host, now: now)
    }
    #expect(tried == [1, 2, 1, 2])
  }

  @Test mutating func `the hold of hosts that have never answered is given up, until one is reached`() {
    holdMachine()
    for second in 1...100 { _ = scheduler.choose(now: second * 1000, perHost: places) }
    scheduler.giveUpUnanswered(after: 1_000_000, now: 100_000)
    let isHeld = scheduler.isMachineHeld
    scheduler.giveUpUnanswered(after: 90_000, now: 100_000)
    let (isHeldThen, told) = (scheduler.isMachineHeld, changes())
    #expect(isHeld && !isHeldThen)
    #expect(told == [Change(HostScheduler.files, .givenUp)])
    // All of them are asked now, and what fails so is no reason to hold them again.
    for host in 1...2 {
      let choice = scheduler.choose(now: 100_000, perHost: places)
      #expect(choice != nil)
      scheduler.start(job: 1, host: host, next: nil, now: 100_000)
      end(host, .failed(.unresolved), began: 100_000, now: 100_010)
    }
    let (isHeldAgain, toldThen) = (scheduler.isMachineHeld, changes())
    #expect(!isHeldAgain && toldThen.isEmpty)
    scheduler.start(job: 1, host: 1, next: nil, now: 100_020)
    end(1, .failed(.refused), began: 100_020, now: 100_030)
    let toldLast = changes()
    #expect(toldLast == [Change(HostScheduler.files, .opened)])
  }

  @Test(arguments: [HostBreaker.Failure.unresolved, .noNetwork, .noProxy])
  mutating func `an answer of a host that has answered before says nothing of name servers and proxies`(
    failure: HostBreaker.Failure
  ) {
    start(hosts: 5...5)
    for host in 1...2 {
      scheduler.start(job: 1, host: host, next: key(100 + host), now: 100)
      end(host, .failed(failure), began: 100, now: 110)
    }
    scheduler.start(job: 1, host: 5, next: key(9), now: 120)
    end(5, answered, began: 120, now: 130)
    let (isHeld, hasReached) = (scheduler.isMachineHeld, scheduler.hasReached(failure, since: 115))
    #expect(isHeld == (failure != .noNetwork) && hasReached == (failure == .noNetwork))
  }

  @Test(arguments: [true, false])
  mutating func `a host whose address was known before others could not be resolved does not end their hold`(
    wasAsked: Bool
  ) {
    scheduler.add(job: 2)
    scheduler.start(job: 2, host: 3, next: key(9), now: 0)
    if wasAsked { end(3, .failed(.refused), began: 0, now: 5) }
    holdMachine()
    if wasAsked { scheduler.start(job: 2, host: 3, next: nil, now: 20) }
    end(3, .failed(.refused), began: wasAsked ? 20 : 0, now: 25)
    let (isHeld, hasReached) = (scheduler.isMachineHeld, scheduler.hasReached(.unresolved, since: 11))
    #expect(isHeld && !hasReached)
    let trial = scheduler.choose(now: 5000, perHost: places)
    #expect(trial != nil, "it was no trial, or one that says nothing")
  }

  @Test(arguments: [HostBreaker.Failure.unresolved, .noNetwork, .noProxy])
  mutating func `a trial at a host that was reached before says nothing of name servers, and others are tried`(
    failure: HostBreaker.Failure
  ) {
    scheduler.add(job: 2)
    scheduler.start(job: 2, host: 3, next: key(9), now: 0)
    end(3, .failed(.refused), began: 0, now: 5)
    for host in 1...2 {
      scheduler.start(job: 2, host: host, next: nil, now: 5)
      end(host, .failed(failure), began: 5, now: 10)
    }
    scheduler.start(job: 2, host: 3, next: key(10), now: 2000)
    end(3, answered, began: 2000, now: 2010)
    let isHeld = scheduler.isMachineHeld
    #expect(isHeld == (failure == .unresolved))
    scheduler.setUpcoming(key(11), job: 2)
    let next = scheduler.choose(now: 5000, perHost: places)
    #expect(next != nil)
  }

  @Test mutating func `while other hosts answer, the hold of those that have never answered is given up after 60 s`() {
    start(hosts: 5...5)
    for host in 1...2 {
      scheduler.start(job: 1, host: host, next: key(100 + host), now: 100)
      end(host, .failed(.unresolved), began: 100, now: 110)
    }
    scheduler.start(job: 1, host: 5, next: nil, now: 120)
    end(5, answered, began: 120, now: 130)
    var now = 1000
    while now < 70_000 {
      if let choice = scheduler.choose(now: now, perHost: places), case .host(1) = choice.kind {
        scheduler.start(job: 1, host: 1, next: key(101), now: now)
        end(1, .failed(.unresolved), began: now, now: now)
      }
      now += 1000
    }
    let told = changes()
    #expect(told == [Change(HostScheduler.files, .closed(.unresolved)), Change(HostScheduler.files, .givenUp)])
    // An answer without a name to resolve does not hold them again.
    scheduler.start(job: 1, host: 5, next: key(9), now: 70_000)
    end(5, answered, began: 70_000, now: 70_010)
    let toldThen = changes()
    #expect(toldThen.isEmpty)
  }

  @Test mutating func `what began before the trial does not end it`() {
    holdMachine()
    scheduler.start(job: 1, host: 1, next: nil, now: 500)
    _ = scheduler.choose(now: 1010, perHost: places)
    scheduler.start(job: 1, host: 1, next: nil, now: 1010)
    end(1, .unknown, began: 500, now: 1020)
    let during = scheduler.choose(now: 5000, perHost: places)
    #expect(during == nil)
  }

  @Test mutating func `that a host is given up is told once`() {
    scheduler.add(job: 1)
    for began in [0, 0, 10, 10, 20, 20, 20] {
      scheduler.start(job: 1, host: 1, next: key(1), now: began)
      end(1, .failed(.silent), began: began, now: began + 10)
    }
    let told = changes()
    #expect(told == [Change(1, .givenUp)])
  }

  @Test(arguments: [1000, 120_000])
  mutating func `a closed host without entries is closed anew after a minute`(later: Int) {
    start(hosts: 1...1)
    close(1, position: 0, now: 100)
    scheduler.remove(job: 1, now: 200)
    scheduler.add(job: 2)
    scheduler.admit(job: 2, host: 1, next: key(0), now: 200 + later)
    #expect(scheduler.breaker(of: 1).closed?.since == (later > 60_000 ? 200 + later : 100))
  }

  @Test mutating func `all is cut off only while nothing is left at a host that is asked`() {
    start(hosts: 1...2)
    close(1, position: 0, now: 100)
    #expect(!scheduler.isCutOff, "the other host has an entry")
    close(2, position: 1, now: 100)
    #expect(scheduler.isCutOff && scheduler.isCutOff(job: 1) && !scheduler.isCutOff(job: 2))
    scheduler.setUpcoming(key(9), job: 1)
    #expect(!scheduler.isCutOff && !scheduler.isCutOff(job: 1), "a host was not asked yet")
  }

  @Test func `news of the host itself does not count`() {
    var news = HostNews()
    #expect(!news.othersAnswer(than: 1), "nobody has answered")
    news.record(1, isAnswer: true)
    news.record(2, isAnswer: false)
    #expect(!news.othersAnswer(than: 1) && news.othersAnswer(than: 2))
    news.record(2, isAnswer: false)
    #expect(news.othersAnswer(than: 2))
    news.record(3, isAnswer: false)
    #expect(!news.othersAnswer(than: 2))
  }
}
