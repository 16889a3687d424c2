import Database
import Glibc
import Imaging
import Ledger
import System
import TestSupport
import Testing
import Transfer

@testable import Darkroom

@Suite(.timeLimit(.minutes(10))) struct LiveJobsTests {
  private let deliveries: Deliveries
  private let mailbox: Mailbox<LiveJobs.Message>
  private let jobs: LiveJobs
  private let engine: TransferEngine

  init() throws {
    deliveries = try Deliveries()
    let mailbox = try Mailbox<LiveJobs.Message>()
    self.mailbox = mailbox
    let outbox = OutboxFolder(path: deliveries.root.file("out"))
    let configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    engine = TransferEngine(configuration: configuration.transfer)
    let inbox = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil)
    jobs = LiveJobs(
      queue: JobQueue(goal: .watch, unfinished: []),
      pending: PendingOperations(
        configuration: configuration, engine: engine, downloadEnded: { _ in }, ended: { _ in }),
      delivery: deliveries.queue,
      suspension: Suspension(
        outbox: outbox, downloads: DownloadCache(folder: deliveries.root.file("cache"), limit: 0), minFree: 0),
      planner: JobPlanner(
        inbox: inbox.path, outbox: outbox, state: deliveries.state, ledger: deliveries.ledger,
        delivery: deliveries.queue, indexes: JobIndexPool(), configuration: configuration),
      lastActive: 0, observe: { _ in }, send: { mailbox.post($0) })
    try deliveries.root.write("http://h/a\n", as: "inbox/a.txt")
    let fresh = jobs.queue.fresh(of: try inbox.scan().manifests)
    jobs.queue.update(fresh, settled: fresh)
  }

  /// Starts the next job, and takes in what is said until it is planned.
  /// - Parameter result: What its planning is said to come to; as it does when nil.
  private func plan(_ result: Result<JobPlanning.Result, any Error>? = nil) throws {
    jobs.start(try #require(jobs.queue.next { _ in false }), now: 0)
    while true {
      mailbox.wait()
      for message in mailbox.collect() {
        guard case .planned(let run, let found) = message else {
          try jobs.handle(message)
          continue
        }
        return try jobs.handle(.planned(run: run, result ?? found))
      }
    }
  }

  @Test func `a job that is planned runs, and its manifest is not taken again`() throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    #expect(run.live.phase == .ready && run.accepted?.job.name == "a")
    jobs.begin(run.number, now: 7)
    #expect(run.live.phase == .running && run.live.since == 7)
    #expect(jobs.queue.isEmpty)
    engine.shutdown()
  }

  @Test func `a job for whose plan there was no room is planned again, and not accepted a second time`() throws {
    try plan(.failure(SystemError("write", "index", code: ENOSPC)))
    #expect(jobs.runs.isEmpty)
    #expect(jobs.suspension.diskFullUntil > 0)
    let accepted = try deliveries.ledger.liveJobs()
    #expect(accepted.count == 1)
    #expect(jobs.queue.next { _ in false } == accepted.first.map { .unfinished($0) })
    jobs.queue.retry(.unfinished(accepted[0]))
    try plan()
    #expect(jobs.runs.values.first?.accepted?.job.runID == accepted[0].runID)
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  @Test func `a job that cannot be planned is reported, and stays in the ledger for the next start`() throws {
    try plan(.failure(SystemError("open", "snapshot", code: EIO)))
    #expect(jobs.runs.isEmpty && jobs.summary.hadTrouble)
    #expect(jobs.queue.isEmpty)
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  @Test func `what goes wrong with the ledger stops the program`() throws {
    #expect(throws: SQLiteError.self) {
      try plan(.failure(SQLiteError(code: 10, message: "disk I/O error", path: "l")))
    }
    engine.shutdown()
  }
}
