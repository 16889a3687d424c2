import Glibc
import Imaging
import Ledger
import System
import TestSupport
import Testing

@testable import Darkroom

/// Runs whose manifests are to replace others.
extension LiveJobsTests {
  @Test func `a run that nobody wants any more is planned again as one that nobody wants`() throws {
    try plan(.failure(SystemError("write", "index", code: ENOSPC))) { $0.unwanted = .removed }
    #expect(jobs.runs.isEmpty)
    // Here what it was to replace has ended meanwhile.
    try plan(replacing: 99)
    let run = try #require(jobs.runs.values.first)
    #expect(run.unwanted == .removed && run.live.phase == .waiting && run.replaces == 99)
    jobs.planSeparately(run)
    try handleMessages()
    #expect(jobs.runs.values.map(\.number) == [run.number] && jobs.queue.isEmpty)
    #expect(run.unwanted == .removed && run.live.phase == .waiting && run.replaces == nil)
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  private static let configuration = Configuration(filters: Recipe.none, processors: 1)

  /// Starts an entry, whose operations do not begin.
  private func startEntry() throws -> PhotoRecord {
    let run = try #require(jobs.runs[1])
    let next = try #require(try jobs.scheduler.next(now: 0, perHost: 2, lowest: 4))
    let record = PhotoRecord(next.entry, run: try #require(run.plan).run)
    jobs.pending.start(record)
    return record
  }

  /// Has a manifest of two entries run.
  private func begin() throws -> JobRun {
    try plan(replacing: 90, dropping: #"["http://h/a", "http://h/b"]"#)
    let old = try #require(jobs.runs[1])
    jobs.planSeparately(old)
    try handleMessages()
    jobs.begin(1, now: 7)
    jobs.pending.suspendAll()
    return old
  }

  @Test func `what runs of a replaced job and is wanted goes on for 10 s, and what is not wanted is cancelled at once`()
    throws
  {
    let old = try begin()
    let (first, second) = (try startEntry(), try startEntry())
    #expect(jobs.close(old, awaiting: .init(positions: [0], until: 17)))
    #expect(first.state == .new && second.state == .cancelled)
    let later = JobRun(number: 2, source: old.source, planning: Self.planning(of: jobs, old), now: 8)
    jobs.runs[2] = later
    jobs.collectCancelled(now: 16.9, Self.configuration)
    #expect(first.state == .new && jobs.pending.inProgress.keys.map(\.position) == [0] && jobs.nextWaitEnd == 17)
    jobs.collectCancelled(now: 17, Self.configuration)
    #expect(first.state == .cancelled && jobs.pending.inProgress.isEmpty && jobs.nextWaitEnd == nil)
    #expect(jobs.live.first?.phase == .unrecorded)
    engine.shutdown()
  }

  @Test func `nothing of a replaced job is waited for when nobody wants the later one`() throws {
    let old = try begin()
    let first = try startEntry()
    jobs.close(old, awaiting: .init(positions: [0], until: 17))
    jobs.collectCancelled(now: 8, Self.configuration)
    #expect(first.state == .cancelled && jobs.pending.inProgress.isEmpty)
    engine.shutdown()
  }

  private static func planning(of jobs: LiveJobs, _ run: JobRun) -> JobPlanning {
    JobPlanning(run.source, number: 2, planner: jobs.planner, during: [], isReplacement: true)
  }

  @Test func `operations are waited for as long as they are wanted, and not longer than their time`() {
    var awaited = JobRun.Awaited(positions: [1, 2, 3], until: 10)
    #expect(awaited.keep([1, 2, 4], now: 9.9) == [3] && awaited.positions == [1, 2])
    #expect(awaited.keep([2], now: 9.9) == [1] && awaited.positions == [2])
    #expect(awaited.keep([2], now: 10) == [2] && awaited.positions.isEmpty)
  }

  @Test func `the same manifest again is no replacement, and its file is that of the run that goes on`() throws {
    let old = try begin()
    let identity = try #require(old.accepted?.manifest.identity)
    try plan(replacing: 1, dropping: #"["http://h/a", "http://h/b"]"#)
    let new = try #require(jobs.runs[2])
    let file = try #require(new.accepted?.manifest.identity)
    #expect(file != identity && old.accepted?.manifest.identity == file && old.plan?.manifest.identity == file)
    #expect(old.live.phase == .works && jobs.live.map(\.phase) == [.works, .unrecorded])
    jobs.recordCancelled(2)
    try handleMessages(until: { if case .cancelled = $0 { true } else { false } })
    #expect(jobs.runs[2] == nil && old.live.phase == .works)
    let left = try deliveries.ledger.liveJobs()
    #expect(left.map(\.runID) == [old.accepted?.job.runID])
    #expect(try left.map { try JobManifest(text: $0.details).identity } == [file])
    #expect(deliveries.text("b/entries.jsonl") == "", "the log is that of the run that goes on")
    engine.shutdown()
    jobs.shutDown()
  }

  @Test(arguments: [false, true])
  func `a replaced run has rows of what ended, counts the rest, and without any leaves nothing`(hasRow: Bool) throws {
    let old = try begin()
    let runID = try #require(old.accepted?.job.runID)
    if hasRow {
      let record = PhotoRecord(try #require(try old.plan?.index.entry(at: 1)), run: try #require(old.plan).run)
      record.fail(.dependency("a", cause: nil))
      try deliveries.ledger.commit([.finish(record.ledgerEntry(record.row()), run: runID, job: "b")])
    }
    try plan(replacing: 1, dropping: #"["http://h/c"]"#)
    let new = try #require(jobs.runs[2])
    jobs.replace(1, by: 2, now: 8)
    let accepted = try #require(old.accepted?.manifest.accepted)
    #expect(new.accepted?.manifest.chain == .init(runID: runID, accepted: accepted) && new.live.phase == .waiting)
    jobs.recordCancelled(1)
    try handleMessages(until: { if case .cancelled = $0 { true } else { false } })
    #expect(jobs.runs[1] == nil || hasRow)
    if hasRow, case .reporting(let finishing) = old.phase {
      #expect(finishing.outcome.state == .superseded && finishing.plan.run.isInHistory)
      #expect(finishing.outcome.counts == .init(total: 2, filtered: 0, failed: 1, cancelled: 1, reused: 0))
      var rows = 0
      try deliveries.ledger.eachEndedPage(run: runID) { rows += $0.count }
      #expect(rows == 1)
    }
    #expect(try deliveries.ledger.liveJobs().count == (hasRow ? 2 : 1))
    // The report is delivered.
    jobs.runs[1] = nil
    jobs.planSeparately(new)
    try handleMessages()
    #expect(new.live.phase == .waiting && new.replaces == nil && new.plan?.run.accepted == accepted)
    engine.shutdown()
    jobs.shutDown()
  }

  @Test func `a list that cannot be read leaves it to earlier manifests alone that their files have gone`() throws {
    try plan(replacing: 90, dropping: #"["http://h/a"]"#)
    let first = try #require(jobs.runs[1])
    try plan(replacing: 1, dropping: #"{"source": "http://h/list.txt"}"#)
    let list = try #require(jobs.runs[2])
    try plan(replacing: 2, dropping: #"["http://h/b"]"#)
    jobs.rejectSource(of: list, try #require(list.plan), .dependency("a", cause: nil))
    #expect(jobs.unknownRuns == [try #require(first.accepted?.job.runID)])
    engine.shutdown()
  }

  @Test func `a manifest that is rejected changes nothing for an earlier one that waits for room`() throws {
    try plan(replacing: 90, dropping: #"["http://h/a"]"#)
    let waiting = try #require(jobs.runs[1]?.accepted)
    jobs.holds.hold(.planning("b"), "", space: .max, now: 0)
    jobs.remove(try #require(jobs.runs[1]))
    jobs.queue.retry(.unfinished(waiting.job), order: 1)
    try deliveries.root.write("[1]", as: "inbox/b.json")
    jobs.start(
      .dropped(try #require(jobs.planner.inbox.scan().manifests.first { $0.job == "b" })), replacing: nil, now: 0)
    try handleMessages()
    let rejected = try #require(jobs.runs[2])
    if case .reporting(let finishing) = rejected.phase {
      #expect(finishing.outcome.isRejectedReplacement == true)
    }
    #expect(rejected.live.phase == .unreported && jobs.unknownRuns == [waiting.job.runID])
    #expect(jobs.holds[.planning("b")] != nil)
    engine.shutdown()
  }

  /// Drops a manifest, and has it planned.
  private func plan(replacing replaced: Int, dropping manifest: String) throws {
    try deliveries.root.write(manifest, as: "inbox/b.json")
    let fresh = jobs.queue.fresh(of: try jobs.planner.inbox.scan().manifests).filter { $0.job == "b" }
    jobs.queue.update(fresh, settled: fresh)
    try plan(replacing: replaced)
  }
}
