import Testing

@testable import Darkroom

@Suite struct QueuedTests {
  @Test func `a manifest waits for the job whose name it gets, whatever is replaced in it`() {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    status.queued = ["a_b.txt", "a:b.txt", "in/.a:b.json", "other.txt"]
    status.findQueuedBehind()
    #expect(status.queued_behind == [.init(file: "in/.a:b.json", job: "a_b~6783")])
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
}
