import Imaging
import Scheduling
import Testing
import TestSupport
import Transfer

@testable import Darkroom
@testable import Delivery
@testable import Inbox
@testable import Model

/// Which results share a batch.
extension LiveJobsTests {
  /// Ends the next entry without a request, and delivers its row.
  private func deliverNext(of run: JobRun) throws {
    let next = try #require(try jobs.scheduler.next(now: 0, perHost: 2, lowest: 4))
    let record = PhotoRecord(next.entry, run: try #require(run.plan).run)
    record.fail(.dependency("a", cause: nil))
    jobs.flow.deliver(record)
  }

  @Test(arguments: [false, true])
  func `a result is delivered at once only if no entry can start whose result could share its batch`(
    isClosed: Bool
  ) throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    jobs.act(.begin(run.number))
    try deliveries.hold()
    try deliverNext(of: run)
    #expect(!deliveries.queue.isDueSoon, "nothing is in progress, but the other entry has not started yet")
    if isClosed { jobs.flow.gate.isPaused = true }
    jobs.admit(now: 8, Configuration(filters: try Recipe(parsing: "none"), processors: 1), cache: nil)
    #expect(jobs.pending.inProgress.count == (isClosed ? 0 : 1))
    #expect(deliveries.queue.isDueSoon == isClosed)
    jobs.pending.cancelAll()
    deliveries.release()
    engine.shutdown()
  }

  @Test(arguments: [false, true])
  func `the last results have a batch at once if no other job could share it`(hasOthers: Bool) throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    jobs.act(.begin(run.number))
    try deliveries.hold()
    let configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    try deliverNext(of: run)
    jobs.flow.gate.isPaused = true
    jobs.flow.admit(now: 8, configuration, cache: nil, hasOthers: hasOthers)
    #expect(deliveries.queue.isDueSoon && !deliveries.queue.isAlone, "the other entry has not started yet")
    try deliverNext(of: run)
    jobs.flow.admit(now: 8, configuration, cache: nil, hasOthers: hasOthers)
    #expect(deliveries.queue.isAlone == !hasOthers)
    deliveries.release()
    engine.shutdown()
  }

  @Test func `the last results of a job are delivered at once`() throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    jobs.act(.begin(run.number))
    try deliveries.hold()
    try deliverNext(of: run)
    #expect(!deliveries.queue.isDueSoon)
    try deliverNext(of: run)
    #expect(deliveries.queue.isDueSoon)
    deliveries.release()
    engine.shutdown()
  }

  @Test(arguments: [false, true])
  func `the report of the only job has a batch at once`(isAnotherWaiting: Bool) throws {
    try plan()
    if isAnotherWaiting {
      try deliveries.root.write("http://h/c\n", as: "inbox/b.txt")
      let inbox = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil)
      let fresh = jobs.table.queue.fresh(of: try inbox.scan().manifests)
      jobs.table.queue.update(fresh, settled: fresh)
    }
    let report = try deliveries.report(deliveries.run(7))
    try deliveries.hold()
    jobs.perform([.deliver(report)])
    #expect(deliveries.queue.isDueSoon && deliveries.queue.isAlone == !isAnotherWaiting)
    deliveries.release()
    engine.shutdown()
  }
}
