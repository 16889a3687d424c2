import Testing

@testable import Darkroom
@testable import DarkroomCLI

/// The progress of jobs that another process works on, made of its status.
@Suite struct WaitProgressTests {
  private static func status(_ jobs: [Status.Job]) -> Status {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    (status.running, status.process, status.jobs) = (true, 7, jobs)
    return status
  }

  private static func shown(_ updates: [(status: Status, open: [String])]) -> [ProgressSnapshot?] {
    var progress = WaitProgress()
    return updates.enumerated().map { second, update in
      progress.update(update.status, open: update.open)
      return progress.snapshot(at: Double(second))
    }
  }

  @Test func `it tells of the jobs waited for only, and of those that are not live yet`() throws {
    let jobs = [
      Status.Job(job: "a", run_id: "1", state: "running", total: 4, filtered: 1, failed: 1, cancelled: 0),
      Status.Job(job: "other", run_id: "2", state: "running", total: 9, filtered: 9, failed: 0, cancelled: 0),
      Status.Job(job: "b", run_id: "3", state: "planning"),
    ]
    let shown = try #require(Self.shown([(Self.status(jobs), ["a", "b", "c"])])[0])
    #expect(
      shown.jobs == [
        .init(name: "a", total: 4, ended: 2, failed: 1), .init(name: "b", note: "planning"),
        .init(name: "c", note: "waiting"),
      ])
    #expect((shown.total, shown.ended, shown.failed) == (4, 2, 1))
  }

  @Test func `what has ended still counts, there is a rate, and nothing is shown when all have ended`() throws {
    func job(_ name: String, _ ended: Int) -> Status.Job {
      Status.Job(job: name, run_id: name, state: "running", total: 10, filtered: ended, failed: 0, cancelled: 0)
    }
    let shown = Self.shown([
      (Self.status([job("a", 4), job("b", 0)]), ["a", "b"]), (Self.status([job("b", 2)]), ["b"]),
      (Self.status([]), []),
    ])
    let second = try #require(shown[1])
    #expect((second.total, second.ended, second.jobs.count) == (20, 12, 1))
    #expect(second.rate == 8 && second.secondsLeft == 1)
    #expect(shown[2] == nil)
  }

  @Test func `an earlier run that is being replaced is not told of beside the later one`() throws {
    let jobs = [
      Status.Job(job: "a", run_id: "1", state: "replaced", total: 4, filtered: 1, failed: 0, cancelled: 0),
      Status.Job(job: "a", run_id: "2", state: "running", total: 6, filtered: 2, failed: 0, cancelled: 0),
    ]
    let shown = try #require(Self.shown([(Self.status(jobs), ["a"])])[0])
    #expect(shown.jobs == [.init(name: "a", total: 6, ended: 2)])
  }
}
