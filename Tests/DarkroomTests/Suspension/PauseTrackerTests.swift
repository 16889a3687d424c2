import Ledger
import Testing
import TestSupport

@testable import Darkroom
@testable import Inbox

@Suite struct PauseTrackerTests {
  private let folder: TemporaryFolder
  private var tracker = PauseTracker()
  private let (a, b): (PauseCause, PauseCause)
  private let disk = PauseCause.disk(reason: "full")

  init() throws {
    folder = try TemporaryFolder()
    try folder.write("why\n", as: "a.lock")
    try folder.write("", as: "b.lock")
    a = .lock(Lock(name: "a.lock", path: folder.file("a.lock")))
    b = .lock(Lock(name: "b.lock", path: folder.file("b.lock")))
  }

  @Test("the queues are paused until the last of several causes is gone")
  mutating func overlap() {
    let changes = [
      tracker.update([a], at: 10), tracker.update([a, b, disk], at: 20), tracker.update([b, disk], at: 30),
      tracker.update([disk], at: 40),
    ]
    #expect(changes[0] == PauseTracker.Change(began: [a]))
    #expect(Set(changes[1].began) == [b, disk] && changes[1].ended.isEmpty)
    #expect(changes[2] == PauseTracker.Change(ended: [a]))
    #expect(tracker.isPaused)
    let last = tracker.update([], at: 50)
    #expect(last == PauseTracker.Change(ended: [disk]))
    #expect(!tracker.isPaused && tracker.open(since: 0).isEmpty)
  }

  @Test("nothing changes while the same causes hold, and a new pause begins anew")
  mutating func steady() {
    _ = tracker.update([a], at: 10)
    let same = tracker.update([a, a], at: 20)
    #expect(same == PauseTracker.Change())
    _ = tracker.update([], at: 30)
    _ = tracker.update([a], at: 40)
    #expect(tracker.open(since: 0).map(\.began) == [40])
  }

  @Test("a lock whose reason is written later is the same lock")
  mutating func reasonChanges() throws {
    _ = tracker.update([b], at: 10)
    try folder.write("now with a reason", as: "b.lock")
    let change = tracker.update([.lock(Lock(name: "b.lock", path: folder.file("b.lock")))], at: 20)
    #expect(change == PauseTracker.Change())
  }

  @Test("for a job a pause begins no earlier than the job")
  mutating func clipping() {
    _ = tracker.update([a], at: 10)
    _ = tracker.update([a, b], at: 50)
    let open = tracker.open(since: 30).sorted { $0.lock < $1.lock }
    #expect(
      open == [
        LedgerPause(cause: "lock", lock: "a.lock", reason: "why", began: 30),
        LedgerPause(cause: "lock", lock: "b.lock", reason: nil, began: 50),
      ])
    #expect(LedgerPause(cause: "disk", lock: "", reason: nil, began: 5, ended: 40).clipped(to: 20).began == 20)
  }

  @Test("the causes in words")
  mutating func words() {
    _ = tracker.update([b, a, disk], at: 0)
    #expect(tracker.description == "a.lock (why), b.lock, disk (full)")
  }

  @Test(
    "paused time is the union of the pauses",
    arguments: [
      ([], 0), ([(0, 1000)], 1), ([(0, 1000), (2000, 3000)], 2), ([(0, 1000), (500, 1500)], 1.5),
      ([(0, 3000), (1000, 2000)], 3),
      ([(1000, 2000), (0, 1000)], 2), ([(0, 1000), (0, 1000)], 1), ([(500, nil)], 9.5), ([(0, 1000), (900, nil)], 10),
      ([(3000, 2000)], 0), ([(20_000, nil)], 0), ([(0, 5000), (1000, 500), (4000, 6000)], 6),
    ] as [([(Int, Int?)], Double)])
  func union(pauses: [(Int, Int?)], seconds: Double) {
    let pauses = pauses.map { LedgerPause(cause: "lock", lock: "x", reason: nil, began: $0.0, ended: $0.1) }
    #expect(pauses.paused(until: 10_000) == seconds)
    #expect(Array(pauses.reversed()).paused(until: 10_000) == seconds)
  }

  @Test func `a job that was not at hand is told of the pauses that ended since it began, and of no others`() {
    var tracker = PauseTracker()
    for (from, to) in [(0, 10), (20, 30), (40, 50)] {
      _ = tracker.update([.disk(reason: "full")], at: from)
      _ = tracker.update([], at: to)
    }
    #expect(tracker.ended(since: 25).map(\.began) == [25, 40])
    #expect(tracker.ended(since: 25).map(\.ended) == [30, 50])
    #expect(tracker.ended(since: 50).isEmpty)
  }

  private func locks(_ range: Range<Int>) -> [PauseCause] {
    range.map { .lock(Lock(name: "\($0).lock", path: folder.file("\($0).lock"))) }
  }

  @Test func `the pause that began first is known, also one of an earlier process`() {
    var tracker = PauseTracker()
    _ = tracker.update([b], at: 10)
    _ = tracker.update([b, a, disk], at: 20)
    #expect(tracker.oldest?.cause == b && tracker.oldest?.since == 10)
    let isAdopted = tracker.adopt(LedgerPause(cause: "disk", lock: "", reason: nil, began: 5))
    #expect(isAdopted && tracker.oldest?.cause == disk && tracker.oldest?.since == 5)
    _ = tracker.update([a], at: 30)
    #expect(tracker.oldest?.cause == a && tracker.oldest?.since == 20)
    _ = tracker.update([], at: 40)
    #expect(tracker.oldest == nil)
  }

  /// The change of an update, and the texts of its events.
  private func events(_ causes: [PauseCause], _ tracker: inout PauseTracker) -> [String] {
    let change = tracker.update(causes, at: 0)
    return change.events(in: tracker).map { event in
      switch event {
      case .paused(let cause): "paused by \(cause.description)"
      case .pausedByLocks(let count, let names): "paused by \(count): \(names)"
      case .causeGone(let cause, let remaining): "\(cause.description) gone, left: \(remaining)"
      case .locksGone(let count, let names, let remaining): "\(count) gone: \(names), left: \(remaining)"
      default: "\(event)"
      }
    }
  }

  @Test func `ten locks that come or go at once are reported one by one, and more of them together`() {
    var tracker = PauseTracker()
    let ten = (0..<10).map { "\($0).lock" }
    #expect(events(locks(0..<10), &tracker).sorted() == ten.map { "paused by " + $0 })
    #expect(
      events([disk], &tracker).sorted()
        == (["paused by disk (full)"] + ten.map { "\($0) gone, left: disk (full)" }).sorted())
    let many = "0.lock, 1.lock, 10.lock, 2.lock, 3.lock and 6 more"
    #expect(
      events(locks(0..<11) + [a], &tracker) == [
        "paused by 12: 0.lock, 1.lock, 10.lock, 2.lock, 3.lock and 7 more",
        "disk (full) gone, left: 0.lock, 1.lock, 10.lock, 2.lock, 3.lock and 7 more",
      ])
    #expect(events([a], &tracker) == ["11 gone: \(many), left: a.lock (why)"])
    #expect(events([], &tracker) == ["a.lock (why) gone, left: "])
  }

  // Many minutes, if each lock were looked for among all others.
  @Test(.timeLimit(.minutes(1)))
  func `the end of many locks at once takes no time that grows with the square of their number`() {
    var tracker = PauseTracker()
    let causes = locks(0..<200_000)
    _ = tracker.update(causes, at: 10)
    let before = tracker.open(since: 0)
    let change = tracker.update(Array(causes.prefix(1000)), at: 20)
    #expect(change.events(in: tracker).count == 1)
    let ended = change.ended(of: before, at: 30)
    #expect(ended.count == 199_000 && ended.allSatisfy { $0.began == 10 && $0.ended == 30 })
  }

  @Test func `of many causes a few are named, and the others counted`() {
    var tracker = PauseTracker()
    _ = tracker.update(
      (1...9).map { PauseCause.lock(Lock(name: "\($0).lock", path: folder.file("\($0).lock"))) }, at: 0)
    #expect(tracker.description == "1.lock, 2.lock, 3.lock, 4.lock, 5.lock and 4 more")
  }
}
