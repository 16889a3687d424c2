import Foundation
import Testing

@testable import Darkroom
@testable import DarkroomCLI
@testable import Model

/// The progress of jobs, made of the status.
@Suite struct StatusProgressTests {
  private static func status(_ jobs: [Status.Job], pauses: [Status.Pause] = []) -> Status {
    var status = Status(version: "1", inbox: "in", outbox: "out")
    (status.running, status.process, status.jobs, status.pauses) = (true, 7, jobs, pauses)
    return status
  }

  private static func running(
    _ name: String, _ ended: Int, of total: Int, rate: Double? = nil, left: Double? = nil, bytes: Int = 0
  ) -> Status.Job {
    var job = Status.Job(
      job: name, run_id: name, state: "running", total: total, filtered: ended, failed: 0, cancelled: 0)
    (job.rate, job.seconds_left, job.transfers) = (rate, left, Transfers())
    job.transfers?.add(.init(requests: 1, bytes: bytes), of: "h")
    return job
  }

  /// What is shown a second after each status.
  private static func shown(_ updates: [(status: Status, open: [String]?)]) -> [ProgressSnapshot?] {
    var progress = StatusProgress()
    return updates.enumerated().map { second, update in
      progress.update(update.status, open: update.open)
      return progress.snapshot(at: Double(second))
    }
  }

  @Test func `wait shows the jobs waited for only, and those that are not live yet`() throws {
    let jobs = [
      Status.Job(job: "a", run_id: "1", state: "running", total: 4, filtered: 1, failed: 1, cancelled: 0),
      Self.running("other", 9, of: 9), Status.Job(job: "b", run_id: "3", state: "planning"),
    ]
    let shown = try #require(Self.shown([(Self.status(jobs), ["a", "b", "c"])])[0])
    #expect(
      shown.jobs == [
        .init(name: "a", total: 4, ended: 2, failed: 1), .init(name: "b", note: "planning"),
        .init(name: "c", note: "waiting"),
      ])
    #expect((shown.total, shown.ended, shown.failed) == (4, 2, 1))
    #expect(Self.shown([(Self.status(jobs), [])])[0] == nil)
  }

  @Test(arguments: [true, false])
  func `counts and rates are those of the status, and entries of ended jobs do not count`(isWaiting: Bool) throws {
    let both = Self.status([
      Self.running("a", 4, of: 10, rate: 2, left: 3), Self.running("b", 1, of: 20, rate: 0.5, left: 38),
    ])
    let one = Self.status([Self.running("b", 2, of: 20, rate: 0.7, left: 26)])
    let shown = Self.shown([
      (both, isWaiting ? ["a", "b"] : nil), (one, isWaiting ? ["b"] : nil), (Self.status([]), isWaiting ? [] : nil),
      (one, isWaiting ? ["b"] : nil),
    ])
    let (first, second) = (try #require(shown[0]), try #require(shown[1]))
    #expect((first.ended, first.total, first.rate, first.secondsLeft) == (5, 30, 2.5, 38))
    #expect((second.ended, second.total, second.rate, second.secondsLeft, second.elapsed) == (2, 20, 0.7, 26, 1))
    #expect(shown[2] == nil && shown[3]?.elapsed == 0)
  }

  @Test func `the rate of bytes is that of the last seconds, and of no pause or ended job`() {
    func status(_ bytes: Int, isPaused: Bool = false) -> (Status, [String]?) {
      let lock = Status.Pause(cause: "disk", lock: nil, reason: "full", since: nil)
      return (Self.status([Self.running("a", 0, of: 9, rate: 1, bytes: bytes)], pauses: isPaused ? [lock] : []), nil)
    }
    let shown = Self.shown([
      status(500), status(2500), status(6500, isPaused: true), status(6600), status(6700), status(100), status(200),
    ])
    #expect(shown.map { $0?.byteRate } == [nil, 2000, nil, nil, 100, nil, 100])
    #expect(shown[2]?.rate == nil && shown[2]?.pauses == ["disk (full)"])
  }

  @Test func `while the program is stopping there is no rate, and no time left`() throws {
    var status = Self.status([Self.running("a", 1, of: 9, rate: 1, left: 8, bytes: 500)])
    #expect(try #require(Self.shown([(status, nil)])[0]).secondsLeft == 8)
    status.stopping = true
    let shown = try #require(Self.shown([(status, nil)])[0])
    #expect(shown.isStopping && shown.rate == nil && shown.secondsLeft == nil)
    let line = try #require(ProgressDisplay.lines(shown, .init(columns: 80, rows: 24)).first)
    #expect(line.text.hasSuffix("1/9, 11 %, stopping"), "\(line.text)")
  }

  @Test(arguments: [(nil, "a: planning"), (0, "a: finishing")])
  func `a job without entries has no bar`(total: Int?, line: String) throws {
    let state = total == nil ? "planning" : "finishing"
    let job = Status.Job(
      job: "a", run_id: "1", state: state, total: total, filtered: total, failed: total, cancelled: total)
    let shown = try #require(Self.shown([(Self.status([job]), nil)])[0])
    #expect(ProgressDisplay.lines(shown, .init(columns: 80, rows: 24)).map(\.text) == [line])
  }

  @Test func `of a job whose manifest is replaced one run is shown`() {
    let replaced = Status.Job(job: "a", run_id: "1", state: "replaced", total: 4, filtered: 1, failed: 0, cancelled: 0)
    let planning = Status.Job(job: "a", run_id: "2", state: "planning")
    let shown = Self.shown([
      (Self.status([Self.running("a", 1, of: 4), planning]), nil), (Self.status([replaced]), nil),
      (Self.status([replaced, Self.running("a", 2, of: 6)]), nil),
    ])
    #expect(
      shown.map { $0?.jobs } == [
        [.init(name: "a", total: 4, ended: 1)], [.init(name: "a", total: 4, ended: 1, note: "replaced")],
        [.init(name: "a", total: 6, ended: 2)],
      ])
  }

  @Test func `hosts on hold are shown until their time is over, each once`() {
    func job(_ name: String, _ hosts: [(String, Double)]) -> Status.Job {
      var job = Self.running(name, 0, of: 1)
      job.held_hosts = hosts.map { host, seconds in
        let until = Date(timeIntervalSinceNow: seconds)
        return .init(host: host, until: until.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
      }
      return job
    }
    let jobs = [job("x", [("gone", -5), ("b", 300)]), job("y", [("b", 600), ("a", 500)])]
    let held = Self.shown([(Self.status(jobs), nil)])[0]?.held ?? []
    #expect(held.map(\.host) == ["a", "b"] && held.allSatisfy { $0.secondsLeft > 490 })
  }
}
