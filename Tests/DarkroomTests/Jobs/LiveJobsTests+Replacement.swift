import Glibc
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
    #expect(run.unwanted == .removed && run.live.phase == .ready && run.replaces == 99)
    jobs.discardPlan(of: run)
    try handleMessages()
    #expect(jobs.runs.values.map(\.number) == [run.number] && jobs.queue.isEmpty)
    #expect(run.unwanted == .removed && run.live.phase == .ready && run.replaces == nil)
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  @Test func `what was planned beside a list that has come is planned again, and else takes the list's place`() throws {
    try plan(replacing: 90, dropping: #"{"source": "http://h/list.txt"}"#)
    let list = try #require(jobs.runs.values.first)
    #expect(list.live.isFetching)
    try plan(replacing: list.number, dropping: #"["http://h/a"]"#)
    let new = try #require(jobs.runs.values.first { $0 !== list })
    #expect(new.live.phase == .ready && new.isPlannedEarly)
    // As if the list had come.
    let plan = try #require(new.plan)
    (list.phase, list.replaces) = (.running(.init(plan: plan, tally: plan.tally, began: (0, 0))), nil)
    jobs.replace(list.number, by: new.number)
    #expect(new.live.phase == .planning && list.live.phase == .running)
    try handleMessages()
    #expect(new.live.phase == .ready && !new.isPlannedEarly)
    list.replaces = 90
    jobs.remove(list, isIndexUsable: false)
    #expect(new.replaces == 90, "when it has ended")
    engine.shutdown()
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
    jobs.queue.hold("b", JobHold("", after: nil, space: .max, now: 0))
    jobs.remove(try #require(jobs.runs[1]))
    jobs.queue.retry(.unfinished(waiting.job), order: 1)
    try deliveries.root.write("[1]", as: "inbox/b.json")
    jobs.start(
      .dropped(try #require(jobs.planner.inbox.scan().manifests.first { $0.job == "b" })), replacing: nil, now: 0)
    try handleMessages()
    let rejected = try #require(jobs.runs[2])
    if case .finishing(let finishing) = rejected.phase {
      #expect(finishing.outcome.isRejectedReplacement == true)
    }
    #expect(rejected.live.phase == .unreported && jobs.unknownRuns == [waiting.job.runID])
    #expect(jobs.queue.holds["b"] != nil)
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
