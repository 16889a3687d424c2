import Testing

@testable import Darkroom
@testable import DarkroomCLI
@testable import Model

/// The progress of the live jobs, made of events.
@Suite struct JobsProgressTests {
  /// A reference, since the macros of tests take values as constants.
  private final class Progress {
    private var value = JobsProgress()
    func apply(_ event: Event, at now: Double) { value.apply(event, at: now) }
    func snapshot(at now: Double) -> ProgressSnapshot? { value.snapshot(at: now) }
  }

  private static var cancelled: Event {
    guard case .entryEnded(let job, let row, _) = row() else { return .configured }
    return .entryCancelled(job: job, row: row)
  }

  private static func row(bytes: Int = 0, failing code: String? = nil) -> Event {
    let failure = code.map {
      ReportRow.Failure(stage: "download", code: $0, message: "no", httpStatus: nil, isRetryable: false)
    }
    let row = ReportRow(
      index: 0, name: "x", url: "http://h/x", finalURL: nil, state: failure == nil ? .filtered : .failed,
      isReused: false, isCoalesced: false, priority: "normal", attempts: 1, output: nil,
      source: .init(picture: nil, bytes: bytes, sha256: "ab", httpStatus: 200), filters: "none", timings: .init(),
      failure: failure, metadata: nil)
    return .entryEnded(job: "a", row: row, deferred: 0)
  }

  static func end(
    _ job: String, _ state: JobOutcome.State = .succeeded, accepted: Bool = false, bottlenecks: [Bottleneck] = []
  ) -> Event {
    .jobEnded(
      JobSummary(
        job: job, state: state, counts: .init(), sinceLast: nil, isAccepted: accepted, transfers: Transfers(),
        bottlenecks: bottlenecks, problems: [], report: "outbox/\(job)/report.json", seconds: 1))
  }

  @Test func `a job is planned, started, and counted`() throws {
    let progress = Progress()
    #expect(progress.snapshot(at: 0) == nil)
    progress.apply(.jobAccepted(job: "a", file: "a.txt"), at: 0)
    #expect(progress.snapshot(at: 0)?.jobs == [.init(name: "a", note: "planning")])
    progress.apply(.jobStarted(job: "a", total: 4, ended: 1, deferred: 0), at: 0)
    progress.apply(.jobStarted(job: "b", total: 6, ended: 0, deferred: 2), at: 0)
    progress.apply(Self.row(), at: 0)
    progress.apply(Self.row(failing: "dns"), at: 0)
    let both = try #require(progress.snapshot(at: 0))
    #expect(both.jobs == [.init(name: "a", total: 4, ended: 3, failed: 1), .init(name: "b", total: 6)])
    #expect((both.total, both.ended, both.failed, both.deferred) == (10, 3, 1, 2))
    progress.apply(Self.end("a"), at: 0)
    let other = try #require(progress.snapshot(at: 0))
    #expect(other.jobs.map(\.name) == ["b"])
    #expect((other.total, other.ended, other.failed) == (10, 3, 1), "what has ended counts until no job is live")
    progress.apply(Self.end("b"), at: 0)
    #expect(progress.snapshot(at: 0) == nil)
    progress.apply(.jobStarted(job: "c", total: 2, ended: 0, deferred: 0), at: 9)
    let next = try #require(progress.snapshot(at: 10))
    #expect((next.total, next.ended, next.failed, next.elapsed) == (2, 0, 0, 1), "then it begins anew")
  }

  @Test func `a job whose manifest is replaced stays until its last run ends`() {
    let progress = Progress()
    progress.apply(.jobStarted(job: "a", total: 4, ended: 0, deferred: 0), at: 0)
    progress.apply(.jobAccepted(job: "a", file: "a.txt"), at: 0)
    #expect(progress.snapshot(at: 0)?.jobs == [.init(name: "a", total: 4)], "it goes on while the other is planned")
    progress.apply(Self.end("a", .superseded), at: 0)
    #expect(progress.snapshot(at: 0)?.jobs == [.init(name: "a", total: 4)])
    progress.apply(.jobStarted(job: "a", total: 7, ended: 0, deferred: 0), at: 0)
    progress.apply(Self.cancelled, at: 0)
    #expect(progress.snapshot(at: 0)?.jobs == [.init(name: "a", total: 7, ended: 1)])
  }

  @Test func `rates are those of the last seconds, and of no pause`() throws {
    let progress = Progress()
    progress.apply(.jobStarted(job: "a", total: 100, ended: 50, deferred: 0), at: 0)
    _ = progress.snapshot(at: 0)
    for _ in 0..<10 { progress.apply(Self.row(bytes: 1000), at: 1) }
    let first = try #require(progress.snapshot(at: 2))
    #expect((first.rate, first.byteRate, first.secondsLeft) == (5, 5000, 8), "what ended before does not count")
    let lock = PauseCause.disk(reason: "full")
    progress.apply(.paused(lock), at: 3)
    let paused = try #require(progress.snapshot(at: 100))
    #expect(paused.pauses == ["disk (full)"] && paused.rate == nil && paused.secondsLeft == nil)
    progress.apply(.causeGone(lock, remaining: ""), at: 1000)
    _ = progress.snapshot(at: 1000)
    progress.apply(Self.row(), at: 1001)
    let after = try #require(progress.snapshot(at: 1001))
    #expect(after.pauses == [] && after.rate == 1)
    // Nothing has ended for long: that is no rate.
    for second in 1002...1040 { _ = progress.snapshot(at: Double(second)) }
    #expect(progress.snapshot(at: 1041)?.rate == nil)
  }

  @Test func `several causes are told until each is gone, and hosts until their time is over`() throws {
    let progress = Progress()
    progress.apply(.jobStarted(job: "a", total: 1, ended: 0, deferred: 0), at: 0)
    let (disk, memory) = (PauseCause.disk(reason: "full"), PauseCause.memory(reason: "scarce"))
    progress.apply(.paused(disk), at: 0)
    progress.apply(.paused(memory), at: 0)
    #expect(progress.snapshot(at: 0)?.pauses.count == 2)
    progress.apply(.causeGone(disk, remaining: "memory"), at: 0)
    #expect(progress.snapshot(at: 0)?.pauses == ["memory (scarce)"])
    progress.apply(.hostHeld(host: "b", seconds: 30, why: ""), at: 0)
    progress.apply(.hostHeld(host: "a", seconds: 10, why: ""), at: 0)
    progress.apply(.hostHeld(host: "b", seconds: 5, why: ""), at: 1)
    #expect(
      progress.snapshot(at: 4)?.held == [.init(host: "a", secondsLeft: 6), .init(host: "b", secondsLeft: 26)])
    #expect(progress.snapshot(at: 10)?.held.map(\.host) == ["b"])
  }
}
