import Testing

@testable import Darkroom

@Suite struct QueuedTests {
  @Test func `a manifest waits for the job whose name it gets, whatever is replaced in it`() {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    status.queued = ["a_b.txt", "a:b.txt", "in/.a?b.json", "other.txt"]
    status.findQueuedBehind()
    #expect(
      status.queued_behind == [
        .init(file: "a:b.txt", job: "a_b"), .init(file: "in/.a?b.json", job: "a_b"),
      ])
  }
}
