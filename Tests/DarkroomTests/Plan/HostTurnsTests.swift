import Testing

@testable import Darkroom

@Suite struct HostTurnsTests {
  /// Works through hosts, each with so many entries of so many milliseconds, in `places` places at once, and tells when
  /// each host was done. Entries stand in the manifest host by host.
  private static func work(
    _ hosts: [(entries: Int, milliseconds: Int)], places: Int, perHost: Int = 6
  ) -> [(finished: Int, atOnce: Int)] {
    let first = hosts.indices.map { host in hosts[..<host].reduce(0) { $0 + $1.entries } }
    let key = { (host: Int, entry: Int) -> HostTurns.Key? in
      entry < hosts[host].entries ? .init(turn: 2, position: first[host] + entry) : nil
    }
    var turns = HostTurns()
    var begun = hosts.map { _ in 0 }
    var running: [(end: Int, host: Int)] = []
    var result = hosts.map { _ in (finished: 0, atOnce: 0) }
    var upcoming = 0
    var now = 0
    while true {
      while running.count < places {
        let next = upcoming < hosts.count ? key(upcoming, 0) : nil
        guard let choice = turns.choose(now: now, perHost: perHost, upcoming: next) else { break }
        var host = upcoming
        switch choice {
        case .upcoming: upcoming += 1
        case .host(let chosen): host = chosen - 1
        case .retry: Issue.record("nothing is to be tried again")
        }
        begun[host] += 1
        turns.begin(host: host + 1, next: key(host, begun[host]), now: now)
        running.append((now + hosts[host].milliseconds, host))
        result[host].atOnce = max(result[host].atOnce, running.count { $0.host == host })
      }
      guard let next = running.min(by: { $0.end < $1.end }) else { return result }
      now = next.end
      for done in running where done.end == now {
        turns.leave(host: done.host + 1, spending: hosts[done.host].milliseconds, at: now)
        result[done.host].finished = now
      }
      running.removeAll { $0.end == now }
    }
  }

  @Test(arguments: [6, 16])
  func `a fast host at the end is done long before a slow one at the beginning`(places: Int) {
    let result = Self.work([(10_000, 2000), (100, 10)], places: places)
    #expect(result[1].finished <= 20_000)
    #expect(result.allSatisfy { $0.atOnce <= 6 })
  }

  @Test func `slow hosts that could fill all places share them with one that comes last`() {
    let slow = Array(repeating: (entries: 500, milliseconds: 2000), count: 5)
    let result = Self.work(slow + [(100, 10)], places: 16)
    #expect(result[5].finished <= 20_000)
  }

  @Test func `of many slow hosts all are begun in the time that a few would take`() {
    let result = Self.work(Array(repeating: (entries: 50, milliseconds: 2000), count: 40), places: 16)
    let all = 40 * 50 * 2000 / 16
    #expect(result.allSatisfy { $0.finished >= all / 2 }, "none was done at the expense of the others")
  }

  @Test func `fast hosts are worked on one after the other, so that connections stay warm`() {
    let result = Self.work(Array(repeating: (entries: 50, milliseconds: 10), count: 40), places: 6)
    #expect(result.map(\.finished) == result.map(\.finished).sorted())
    #expect(result[0].finished <= 100)
  }

  @Test func `priority comes before fairness`() {
    var turns = HostTurns()
    turns.begin(host: 1, next: .init(turn: 0, position: 5), now: 0)
    turns.leave(host: 1, spending: 1_000_000, at: 0)
    #expect(turns.choose(now: 0, perHost: 6, upcoming: .init(turn: 1, position: 0)) == .host(1))
    #expect(turns.choose(now: 0, perHost: 6, upcoming: .init(turn: 0, position: 9)) == .upcoming)
  }

  @Test func `a hundred thousand hosts that are left alone cost nothing while they are`() {
    var turns = HostTurns()
    for host in 1...100_000 {
      turns.begin(host: host, next: .init(turn: 2, position: 200_000 + host), now: 0)
      turns.leave(host: host, spending: 1, .refused(60), at: 0)
    }
    // Going over all of them each time would take many minutes.
    let choices = (0..<20_000).map { turns.choose(now: $0, perHost: 6, upcoming: nil) }
    #expect(choices.allSatisfy { $0 == nil })
    #expect(turns.nextChange == 60_000)
    #expect(turns.held(now: 59_999).count == 100_000)
    #expect(turns.choose(now: 60_000, perHost: 6, upcoming: nil) == .host(1))
    #expect(turns.held(now: 60_000).isEmpty)
  }

  @Test func `a host that has nothing left is forgotten, even while it is left alone`() {
    var turns = HostTurns()
    turns.begin(host: 1, next: nil, now: 0)
    turns.leave(host: 1, spending: 1, .refused(60), at: 0)
    turns.forgetIfDone(host: 1)
    #expect(turns.held(now: 1).isEmpty)
    #expect(turns.choose(now: 60_000, perHost: 6, upcoming: nil) == nil)
    #expect(turns.nextChange == nil)
  }
}

extension HostTurns {
  fileprivate mutating func leave(host: Int, spending milliseconds: Int, _ answer: Answer = .served, at now: Int) {
    _ = leave(
      host: host, spending: milliseconds, begun: now - milliseconds, answer, now: now, backoff: Backoff(retries: 3))
  }
}
