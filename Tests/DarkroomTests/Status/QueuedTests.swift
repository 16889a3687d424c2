import Testing

@testable import Darkroom

@Suite struct QueuedTests {
  @Test func `a manifest waits for the job whose name it gets, whatever is replaced in it`() {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    status.queued = ["a_b.txt", "a:b.txt", "in/.a:b.json", "other.txt"]
    status.findQueuedBehind()
    #expect(status.queued_behind == [.init(file: "in/.a:b.json", job: "a_b~6783")])
  }

  @Test func `a manifest waits for no job whose name is spelt differently`() {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    status.jobs = [.init(job: "\u{fc}", run_id: "1", state: "running")]
    status.queued = ["u\u{308}.txt", "\u{fc}.json"]
    status.findQueuedBehind(replaceable: ["\u{fc}.txt"])
    #expect(status.queued_behind == [.init(file: "\u{fc}.json", job: "\u{fc}")])
    #expect(!status.isQueued("x") && status.isQueued("u\u{308}"))
  }

  @Test func `a queued manifest is that of its job, in whatever folder it is`() {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    status.queued = ["m/a.txt", "b.csv.gz"]
    #expect(["a", "b", "m", "d"].map(status.isQueued) == [true, true, false, false])
    for (isRunning, named, total, hasMore) in [
      (true, 3, 3, true), (true, 2, 2, false), (true, nil, 3, false), (false, 3, 3, false),
    ] as [(Bool, Int?, Int, Bool)] {
      (status.running, status.queued_named, status.queued_total) = (isRunning, named, total)
      #expect(status.hasUnlistedNames == hasMore)
    }
  }

  @Test func `a manifest that takes the place of a live job's is told from one that comes after it`() {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    status.jobs = [.init(job: "a", run_id: "1", state: "running"), .init(job: "b", run_id: "2", state: "running")]
    status.queued = ["a.txt", "a.json", "b.json"]
    status.findQueuedBehind(replaceable: ["a.json", "c.json"])
    #expect(
      status.queued_behind == [
        .init(file: "a.txt", job: "a"), .init(file: "a.json", job: "a", replaces: true),
        .init(file: "b.json", job: "b"),
      ])
  }

  @Test func `what waits for the next start comes last, within the limit, and replaces nothing`() {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    status.jobs = [.init(job: "a", run_id: "1", state: "running")]
    (status.queued, status.queued_total) = (["b.txt"], 1)
    status.addQueuedForNextStart((["a.txt", "c.txt"], 7), replaceable: ["a.txt"])
    #expect(status.queued == ["b.txt", "a.txt", "c.txt"] && status.queued_total == 8)
    #expect(status.queued_next_start == ["a.txt", "c.txt"])
    #expect(status.queued_behind == [.init(file: "a.txt", job: "a")])
    status.queued = Array(repeating: "b.txt", count: Status.listLimit - 1)
    status.addQueuedForNextStart((["c.txt", "d.txt"], 2), replaceable: [])
    #expect(status.queued.count == Status.listLimit && status.queued_next_start == ["c.txt"])
  }
}
