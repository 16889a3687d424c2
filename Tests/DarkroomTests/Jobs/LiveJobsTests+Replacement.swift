import Glibc
import Imaging
import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Inbox
@testable import JobIndex
@testable import Model
@testable import Operations

/// Runs whose manifests are to replace others.
extension LiveJobsTests {
  @Test func `a run that nobody wants any more is planned again as one that nobody wants`() throws {
    try plan(.failure(SystemError("write", "index", code: ENOSPC))) { $0.known.unwanted = .removed }
    #expect(jobs.runs.isEmpty)
    // Here what it was to replace has ended meanwhile.
    try plan(replacing: 99)
    let run = try #require(jobs.runs.values.first)
    #expect(run.known.unwanted == .removed && run.samplePhase == .waiting && run.replaces == 99)
    jobs.act(.separate(run.number))
    try handleMessages()
    #expect(jobs.runs.values.map(\.number) == [run.number] && jobs.table.queue.isEmpty)
    let again = try #require(jobs.runs[run.number])
    #expect(again.known.unwanted == .removed && again.samplePhase == .waiting && again.replaces == nil)
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  /// Starts an entry, whose operations do not begin.
  private func startEntry() throws -> PhotoRecord {
    let run = try #require(jobs.runs[1])
    let next = try #require(try jobs.scheduler.next(now: 0, perHost: 2, lowest: 4))
    let record = PhotoRecord(next.entry, run: try #require(run.plan).run)
    jobs.pending.start(record)
    jobs.pending.addToQueues()
    return record
  }

  /// Has a manifest of two entries run.
  private func begin() throws -> JobRun {
    try plan(replacing: 90, dropping: #"["http://h/a", "http://h/b"]"#)
    jobs.act(.separate(1))
    try handleMessages()
    jobs.act(.begin(1))
    jobs.pending.suspendAll()
    return try #require(jobs.runs[1])
  }

  @Test func `what is in progress of a run that closes is cancelled at once, also in queues that are suspended`() throws
  {
    let old = try begin()
    let (first, second) = (try startEntry(), try startEntry())
    jobs.table.runs[1]?.known.unwanted = .requested
    jobs.act(.cancel(1))
    #expect([first, second].allSatisfy { $0.state == .cancelled } && jobs.pending.inProgress.isEmpty)
    #expect(jobs.runs[1]?.samplePhase == .unrecorded && old.entries?.isClosing == true)
    engine.shutdown()
  }

  @Test func `of operations that may end those are cancelled that nobody wants any more`() throws {
    let entries = try #require(try JobRun.sample(1).entries)
    entries.close(attempts: [:], awaiting: [1, 2, 3])
    #expect(entries.keepAwaiting([1, 2, 4]) == [3] && entries.awaited == [1, 2])
    #expect(entries.keepAwaiting([]) == [1, 2] && entries.awaited.isEmpty)
  }

  @Test func `the same manifest again is no replacement, and its file is that of the run that goes on`() throws {
    let old = try begin()
    let identity = try #require(old.accepted?.manifest.identity)
    try plan(replacing: 1, dropping: #"["http://h/a", "http://h/b"]"#)
    let new = try #require(jobs.runs[2])
    let file = try #require(new.accepted?.manifest.identity)
    let kept = try #require(jobs.runs[1])
    #expect(file != identity && kept.accepted?.manifest.identity == file && kept.plan?.manifest.identity == file)
    #expect(jobs.table.inOrder.map(\.samplePhase) == [.works, .unrecorded])
    jobs.act(.record(2))
    try handleMessages(until: { if case .cancelled = $0 { true } else { false } })
    #expect(jobs.runs[2] == nil && jobs.runs[1]?.samplePhase == .works)
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
    jobs.act(.replace(1, by: 2))
    let new = try #require(jobs.runs[2])
    let accepted = try #require(old.accepted?.manifest.accepted)
    #expect(new.accepted?.manifest.chain == .init(runID: runID, accepted: accepted) && new.samplePhase == .waiting)
    jobs.act(.record(1))
    try handleMessages(until: { if case .cancelled = $0 { true } else { false } })
    #expect(jobs.runs[1] == nil || hasRow)
    if hasRow, case .reporting(let finishing)? = jobs.runs[1]?.phase {
      #expect(finishing.outcome.state == .superseded && finishing.plan.run.isInHistory)
      #expect(finishing.outcome.counts == .init(total: 2, filtered: 0, failed: 1, cancelled: 1, reused: 0))
      var rows = 0
      try deliveries.ledger.eachEndedPage(run: runID) { rows += $0.count }
      #expect(rows == 1)
    }
    #expect(try deliveries.ledger.liveJobs().count == (hasRow ? 2 : 1))
    // The report is delivered.
    jobs.table.runs[1] = nil
    jobs.act(.separate(2))
    try handleMessages()
    let again = try #require(jobs.runs[2])
    #expect(again.samplePhase == .waiting && again.replaces == nil && again.plan?.run.accepted == accepted)
    engine.shutdown()
    jobs.shutDown()
  }

  @Test func `a list that cannot be read leaves it to earlier manifests alone that their files have gone`() throws {
    try plan(replacing: 90, dropping: #"["http://h/a"]"#)
    let first = try #require(jobs.runs[1])
    try plan(replacing: 1, dropping: #"{"source": "http://h/list.txt"}"#)
    let list = try #require(jobs.runs[2])
    try plan(replacing: 2, dropping: #"["http://h/b"]"#)
    _ = jobs.table.rejectSource(of: 2, try #require(list.plan), .dependency("a", cause: nil), jobs.context)
    #expect(jobs.table.unknownRuns == [try #require(first.accepted?.job.runID)])
    engine.shutdown()
  }

  @Test func `a manifest that is rejected changes nothing for an earlier one that waits for room`() throws {
    try plan(replacing: 90, dropping: #"["http://h/a"]"#)
    let waiting = try #require(jobs.runs[1]?.accepted)
    jobs.flow.holds.hold(.planning("b"), "", space: .max, now: 0)
    jobs.perform(jobs.table.remove(1))
    jobs.table.queue.retry(.unfinished(waiting.job), order: 1)
    try deliveries.root.write("[1]", as: "inbox/b.json")
    jobs.start(
      .dropped(try #require(jobs.planner.inbox.scan().manifests.first { $0.job == "b" })))
    try handleMessages()
    let rejected = try #require(jobs.runs[2])
    if case .reporting(let finishing) = rejected.phase {
      #expect(finishing.outcome.isRejectedReplacement == true)
    }
    #expect(rejected.samplePhase == .unreported && jobs.table.unknownRuns == [waiting.job.runID])
    #expect(jobs.flow.holds[.planning("b")] != nil)
    engine.shutdown()
  }

  /// Drops a manifest, and has it planned.
  private func plan(replacing replaced: Int, dropping manifest: String) throws {
    try deliveries.root.write(manifest, as: "inbox/b.json")
    let fresh = jobs.table.queue.fresh(of: try jobs.planner.inbox.scan().manifests).filter { $0.job == "b" }
    jobs.table.queue.update(fresh, settled: fresh)
    try plan(replacing: replaced)
  }
}
