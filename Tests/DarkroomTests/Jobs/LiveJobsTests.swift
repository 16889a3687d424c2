import Database
import Foundation
import Glibc
import Imaging
import Ledger
import Scheduling
import System
import Testing
import TestSupport
import Transfer

@testable import Darkroom
@testable import Delivery
@testable import Inbox
@testable import JobIndex
@testable import Model
@testable import Operations

@Suite(.blocking) struct LiveJobsTests {
  let deliveries: Deliveries
  private let mailbox: Mailbox<BackgroundWork.Message>
  let jobs: LiveJobs
  let engine: TransferEngine

  init() throws {
    deliveries = try Deliveries()
    let mailbox = try Mailbox<BackgroundWork.Message>()
    self.mailbox = mailbox
    let outbox = OutboxFolder(path: deliveries.root.file("out"))
    let configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    engine = TransferEngine(configuration: configuration.transfer)
    let inbox = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil)
    jobs = LiveJobs(
      queue: JobQueue(goal: .watch, unfinished: []),
      pending: PendingOperations(configuration: configuration, engine: engine) { _ in },
      delivery: deliveries.queue,
      suspension: Suspension(
        outbox: outbox, staging: "staging", state: deliveries.state,
        downloads: DownloadCache(folder: deliveries.root.file("cache"), limit: 0), minFree: 0),
      planner: JobPlanner(
        inbox: inbox, outbox: outbox, staging: try OpenFolder(deliveries.root.file("staging")), state: deliveries.state,
        ledger: deliveries.ledger,
        delivery: deliveries.queue, indexes: JobIndexPool(), configuration: configuration,
        runNames: RunNames { nil }),
      lastActive: 0, observe: { _ in }, send: { mailbox.post($0) })
    try deliveries.root.write("http://h/a\nhttp://h/b\n", as: "inbox/a.txt")
    let fresh = jobs.table.queue.fresh(of: try inbox.scan().manifests)
    jobs.table.queue.update(fresh, settled: fresh)
  }

  /// Starts the next job, and takes in what is said until it is planned.
  /// - Parameters:
  ///   - result: What its planning is said to come to; as it does when nil.
  ///   - change: What happens to the run before.
  ///   - replaced: The number of the run that it is to replace.
  func plan(
    _ result: Result<JobPlanning.Result, any Error>? = nil, replacing replaced: Int? = nil,
    change: (inout JobRun) -> Void = { _ in }
  ) throws {
    jobs.start(try #require(jobs.table.queue.next { _ in false }), replacing: replaced)
    try handleMessages(result, mayFail: result != nil, change)
  }

  /// Takes in what is said until something is.
  func handleMessages(until isLast: (BackgroundWork.Message) -> Bool) throws {
    while true {
      mailbox.wait()
      for message in mailbox.collect() {
        try jobs.handle(message)
        if isLast(message) { return }
      }
    }
  }

  /// Takes in what is said until a job is planned.
  func handleMessages(
    _ result: Result<JobPlanning.Result, any Error>? = nil, mayFail: Bool = true,
    _ change: (inout JobRun) -> Void = { _ in }
  ) throws {
    while true {
      mailbox.wait()
      for message in mailbox.collect() {
        guard case .planned(let run, let found) = message else {
          try jobs.handle(message)
          continue
        }
        if !mayFail, case .failure(let error) = found { Issue.record(error, "run \(run) is not planned") }
        if var changed = jobs.table.runs[run] {
          change(&changed)
          jobs.table.runs[run] = changed
        }
        return try jobs.handle(.planned(run: run, result ?? found))
      }
    }
  }

  @Test func `a job that is planned runs, and its manifest is not taken again`() throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    #expect(run.samplePhase == .waiting && run.accepted?.job.name == "a")
    jobs.act(.begin(run.number))
    #expect(jobs.runs[run.number]?.samplePhase == .works)
    #expect(jobs.table.queue.isEmpty)
    engine.shutdown()
  }

  @Test func `a job for whose plan there was no room is planned again, and not accepted a second time`() throws {
    try plan(.failure(SystemError("write", "index", code: ENOSPC)))
    #expect(jobs.runs.isEmpty)
    #expect(jobs.suspension.failures.diskFullUntil > 0)
    let accepted = try deliveries.ledger.liveJobs()
    #expect(accepted.count == 1)
    #expect(jobs.table.queue.next { _ in false } == accepted.first.map { .unfinished($0) })
    jobs.table.queue.retry(.unfinished(accepted[0]))
    try plan()
    #expect(jobs.runs.values.first?.accepted?.job.runID == accepted[0].runID)
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  @Test func `a job that run cannot plan is reported, and stays in the ledger for the next start`() throws {
    let fresh = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil).scan().manifests
    jobs.table.queue = JobQueue(goal: .inbox, unfinished: [])
    jobs.table.queue.update(jobs.table.queue.fresh(of: fresh), settled: fresh)
    try plan(.failure(SystemError("mkdir", "out/a", code: ENOTDIR)))
    #expect(jobs.runs.isEmpty && jobs.table.summary.hadTrouble)
    #expect(jobs.table.queue.isEmpty)
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  @Test(arguments: [false, true])
  func `a row that fails because another did and cannot be recorded takes no room, cancelled or not`(
    isCancelled: Bool
  ) throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    jobs.act(.begin(run.number))
    let next = try #require(try jobs.scheduler.next(now: 0, perHost: 2, lowest: 4))
    let record = PhotoRecord(next.entry, run: try #require(run.plan).run)
    record.fail(.dependency("a", cause: nil))
    jobs.flow.dependents.inDelivery.insert(record.id)
    jobs.flow.undelivered = 1
    jobs.runs[run.number]?.entries?.undelivered = 1
    if isCancelled { jobs.act(.cancel(run.number)) }
    try jobs.handle(.rejected([record], SystemError("write", "ledger", code: EIO)))
    #expect(jobs.flow.dependents.inDelivery.isEmpty && jobs.flow.undelivered == 0)
    #expect(jobs.flow.dependents.rejected.count == (isCancelled ? 0 : 1))
    engine.shutdown()
  }

  private static let failure = EntryFailure(
    code: .download(.connect), message: "", disposition: .retry(after: nil))

  @Test(arguments: [false, true])
  func `a retry whose time is over before it starts is not made, and the last failure decides`(isOver: Bool) throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    jobs.act(.begin(run.number))
    jobs.pending.suspendAll()
    var configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    configuration.entryTimeout = 5
    configuration.transfer.perHost = HostLimit(fixed: 1)
    let now = Clock.monotonicMilliseconds
    let next = try #require(try jobs.scheduler.next(now: now, perHost: 1, lowest: 4))
    jobs.scheduler.startTimer(next.id, now: jobs.suspension.activity.now(now) - (isOver ? 5000 : 0))
    _ = jobs.scheduler.downloadEnded(next.id, HostUsage(), .none, now: now, backoff: Backoff(retries: 3))
    jobs.scheduler.retry(next.id, attempts: 1, due: now, now: now)
    jobs.scheduler.keep(Self.failure, of: next.id)
    jobs.admit(now: 8, configuration, cache: nil)
    #expect(jobs.flow.undelivered == (isOver ? 1 : 0))
    #expect(jobs.pending.inProgress.keys.map(\.position) == [isOver ? 1 : 0])
    jobs.pending.cancelAll()
    engine.shutdown()
  }

  @Test func `a round has so many entries of a host that was given up, and the next follows at once`() throws {
    let urls = (0..<600).map { "http://a/\($0)\thttp://b/\($0)\n" }
    try deliveries.root.write(urls.joined(), as: "inbox/a.txt")
    let inbox = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil)
    let fresh = jobs.table.queue.fresh(of: try inbox.scan().manifests)
    jobs.table.queue.update(fresh, settled: fresh)
    try plan()
    let run = try #require(jobs.runs.values.first)
    jobs.act(.begin(run.number))
    jobs.pending.suspendAll()
    let configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    let failure = EntryFailure(
      code: .download(.connect), message: "", disposition: .retry(after: nil), hostFailure: .refused)
    var now = Clock.monotonicMilliseconds - 100
    for contact in [HostScheduler.Contact.answered(firstByte: nil, isMultiplexed: false), .failed(.refused)] {
      now += 10
      let next = try #require(try jobs.scheduler.next(now: now, perHost: 1, lowest: 4))
      _ = jobs.scheduler.downloadEnded(
        next.id, HostUsage(isOwn: true, contact: contact), .none, failure: failure, now: now,
        backoff: Backoff(retries: 3))
      jobs.scheduler.finished(next.id, now: now)
    }
    #expect(jobs.scheduler.hosts.hasClosedHosts)
    jobs.flow.giveUpHosts(after: 0)
    func waiting() -> Int { jobs.scheduler.jobs[run.number]?.waitingCount ?? 0 }
    jobs.admit(now: 8, configuration, cache: nil)
    let first = waiting()
    #expect((200...EntryScheduler.roundLimit).contains(first), "\(first)")
    #expect(jobs.flow.nextStart == 0)
    jobs.admit(now: 8, configuration, cache: nil)
    #expect(waiting() > first)
    jobs.pending.cancelAll()
    engine.shutdown()
  }

  @Test func `what is reported late of an earlier try does not open the interval of a host`() throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    jobs.act(.begin(run.number))
    jobs.pending.suspendAll()
    var rule = HostRule(try HostPattern(parsing: "h"))
    rule.interval = 1000
    var rules = HostRules()
    _ = rules.add(rule)
    jobs.scheduler.configure(rules)
    let now = Clock.monotonicMilliseconds
    func start() throws -> PhotoRecord {
      let next = try #require(try jobs.scheduler.next(now: now, perHost: 2, lowest: 4))
      let record = PhotoRecord(next.entry, run: try #require(run.plan).run)
      jobs.pending.start(record, reportsBeginning: true)
      jobs.pending.addToQueues()
      return record
    }
    let first = try start()
    _ = jobs.scheduler.downloadEnded(first.id, HostUsage(), .none, now: now, backoff: Backoff(retries: 3))
    jobs.pending.remove(first)
    jobs.scheduler.retry(first.id, attempts: 1, due: now, now: now)
    let second = try start()
    #expect(second.id == first.id)
    jobs.flow.downloadBegan(first, at: nil)
    #expect(try jobs.scheduler.next(now: now, perHost: 2, lowest: 4) == nil)
    jobs.flow.downloadBegan(second, at: nil)
    #expect(try jobs.scheduler.next(now: now, perHost: 2, lowest: 4)?.entry.position == 1)
    jobs.pending.cancelAll()
    engine.shutdown()
  }

  @Test func `a run that ends instead of the one that it was to replace leaves as many in history as are kept`() throws
  {
    let time = timespec(tv_sec: Int(Clock.wallSeconds) - 100, tv_nsec: 0)
    let kept = jobs.planner.configuration.keepHistory
    let earlier = (1...kept).map { "20200101T0000\(10 + $0)Z-00000000" }
    for name in earlier {
      try deliveries.root.makeFolder("out/a/history/" + name)
      utimensat(AT_FDCWD, deliveries.root.file("out/a/history/" + name), [time, time], 0)
    }
    try deliveries.root.write("x", as: "out/a/report.json")
    // That run has ended meanwhile.
    try plan(replacing: 99)
    let run = try #require(jobs.runs.values.first)
    let outcome = JobOutcome(
      state: .rejected, counts: .init(), bytes: .init(), transfers: Transfers(), problems: [],
      finished: Clock.wallMilliseconds, elapsed: nil)
    jobs.table.reject(run, try #require(run.plan), outcome)
    jobs.act(.finish(run.number))
    var isWritten = false
    while !isWritten {
      mailbox.wait()
      for case .written in mailbox.collect() { isWritten = true }
    }
    let left = try deliveries.root.names(in: "out/a/history")
    #expect(left.count == kept && Array(left.dropLast()) == Array(earlier.dropFirst()))
    engine.shutdown()
  }

  @Test(arguments: [true, false])
  func `a list that could not be recorded is not asked for again, as long as it is there`(isThere: Bool) throws {
    try deliveries.root.write(#"{"source": "http://h/list"}"#, as: "inbox/a.json")
    try FileManager.default.removeItem(atPath: deliveries.root.file("inbox/a.txt"))
    let fresh = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil).scan().manifests
    jobs.table.queue = JobQueue(goal: .watch, unfinished: [])
    jobs.table.queue.update(jobs.table.queue.fresh(of: fresh), settled: fresh)
    try plan()
    let run = try #require(jobs.runs.values.first)
    let (plan, job) = (try #require(run.plan), try #require(run.accepted?.job))
    jobs.act(.begin(run.number))
    // It can be opened, and not be read.
    let list = deliveries.state.list(job.runID)
    try Folder.create(list)
    let record = PhotoRecord(try #require(plan.source), run: plan.run)
    let text = "http://h/a\nhttp://h/b\n"
    let source = PhotoRecord.Source(
      finalURL: "http://h/list", httpStatus: 200, bytes: text.utf8.count, sha256: MessageDigest.hexDigest(of: text))
    record.downloaded(source, taking: .zero)
    jobs.flow.endSource(record)
    jobs.endLists()
    try handleMessages()
    #expect(jobs.runs.isEmpty && jobs.flow.holds[.planning("a")] != nil)
    try FileManager.default.removeItem(atPath: list)
    if isThere { try Data(text.utf8).write(to: URL(fileURLWithPath: list)) }
    jobs.start(try #require(jobs.table.queue.next { _ in false }))
    try handleMessages()
    let again = try #require(jobs.runs.values.first)
    #expect(again.samplePhase == (isThere ? .waiting : .unlisted))
    #expect(again.plan?.total == (isThere ? 2 : 0) && (again.accepted?.manifest.list != nil) == isThere)
    engine.shutdown()
  }

  @Test func `a damaged ledger stops the program`() throws {
    #expect(throws: SQLiteError.self) {
      try plan(.failure(SQLiteError(code: 11, message: "malformed", path: deliveries.state.ledger)))
    }
    engine.shutdown()
  }

  private static let troubles: [any Error] = [
    SQLiteError(code: 778, message: "disk I/O error", path: "LEDGER", systemError: EIO),
    SQLiteError(code: 11, message: "malformed", path: "index"), SystemError("open", "f", code: EMFILE),
    SystemError("mkdir", "out/a", code: ENOTDIR), StopError.broken("?"),
  ]

  @Test(arguments: troubles.indices)
  func `a job that cannot be planned is held and planned again, and no other waits for it`(number: Int) throws {
    try plan(.failure(Self.troubles[number]))
    #expect(jobs.runs.isEmpty)
    let hold = try #require(jobs.flow.holds[.planning("a")])
    #expect(hold.attempts == 1 && jobs.table.waits(jobs.flow.holds).map(\.job) == ["a"])
    #expect(
      jobs.table.queue.next { jobs.flow.holds.isHeld(.planning(ByteKey($0)), now: hold.due - 0.1) } == nil, "it waits")
    let accepted = try #require(deliveries.ledger.liveJobs().first)
    #expect(
      jobs.table.queue.next { jobs.flow.holds.isHeld(.planning(ByteKey($0)), now: hold.due) } == .unfinished(accepted))
    jobs.table.queue.retry(.unfinished(accepted))
    try plan()
    #expect(jobs.table.waits(jobs.flow.holds).isEmpty)
    engine.shutdown()
  }

  @Test func `a suspect starts last, when nothing else is in progress or left to start`() throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    let configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    guard case .waiting(var plan) = run.phase else { return #expect(Bool(false)) }
    #expect(try plan.index.take(0, as: .suspect))
    #expect(try !plan.index.take(0, as: .suspect), "it is not pending any more")
    try plan.index.database.run("DELETE FROM firsts")
    try plan.index.prepareHosts()
    plan.start.suspects = [0]
    jobs.table.runs[run.number]?.phase = .waiting(plan)
    jobs.act(.begin(run.number))
    // Nothing listens at h: what is tried fails, and is not retried before the test ends.
    jobs.admit(now: 8, configuration, cache: nil)
    let entries = try #require(jobs.runs[run.number]?.entries)
    #expect(jobs.pending.inProgress.keys.map(\.position) == [1] && entries.suspects == [0])
    jobs.admit(now: 1000, configuration, cache: nil)
    #expect(entries.suspects == [0], "its own job has something left, whatever the time")
    // The other row is durable, and another job waits in the inbox.
    let ended = PhotoRecord(try .sample(1), run: plan.run)
    ended.cancel()
    entries.tally.add(ended.row())
    try deliveries.root.write("http://h/c\n", as: "inbox/b.txt")
    let fresh = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil).scan().manifests
    jobs.table.queue.update(jobs.table.queue.fresh(of: fresh), settled: fresh)
    jobs.admit(now: 2000, configuration, cache: nil)
    #expect(entries.suspects == [0], "another job goes first")
    jobs.admit(now: 2000 + EntryFlow.suspectWait, configuration, cache: nil)
    #expect(entries.suspects == [], "but not for ever")
    #expect(Set(jobs.pending.inProgress.keys.map(\.position)) == [0, 1])
    jobs.pending.cancelAll()
    engine.shutdown()
  }

  @Test func `a job whose index cannot be read is planned again once nothing of it is in progress`() throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    let configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    // That it begins is recorded only when it is being planned again.
    try deliveries.hold()
    jobs.act(.begin(run.number))
    let next = try #require(try jobs.scheduler.next(now: 0, perHost: 2, lowest: 4))
    let plan = try #require(run.plan)
    let record = PhotoRecord(next.entry, run: plan.run)
    jobs.pending.start(record)
    jobs.pending.addToQueues()
    try plan.index.database.execute("DROP TABLE entries")
    jobs.admit(now: 8, configuration, cache: nil)
    #expect(jobs.runs[run.number] != nil, "what is in progress ends first")
    #expect(jobs.flow.holds.isEmpty)
    jobs.pending.remove(record)
    jobs.admit(now: 9, configuration, cache: nil)
    #expect(jobs.runs.isEmpty && jobs.table.waits(jobs.flow.holds).map(\.job) == ["a"])
    let hold = try #require(jobs.flow.holds[.planning("a")])
    let source = try #require(jobs.table.queue.next { jobs.flow.holds.isHeld(.planning(ByteKey($0)), now: hold.due) })
    guard case .unfinished(let job) = source else { return #expect(Bool(false)) }
    #expect(job.runID == run.accepted?.job.runID && job.state == .running)
    jobs.start(source)
    deliveries.release()
    try handleMessages(mayFail: false)
    let again = try #require(jobs.runs.values.first)
    #expect(again.number != run.number && again.plan?.total == 2)
    #expect(again.plan?.start.names.isEmpty == true, "its names are those with which it began")
    jobs.pending.cancelAll()
    engine.shutdown()
  }

  @Test func `documents of a report that may not be on disk are written again`() throws {
    try plan()
    let run = try #require(jobs.runs.values.first)
    let plan = try #require(run.plan)
    let outcome = JobOutcome(JobTally(), Transfers(), at: 0)
    let documents = try ReportDelivery(run: plan.run, manifest: plan.manifest, outcome: outcome, documents: [])
    jobs.table.runs[run.number]?.phase = .reporting(
      .init(plan: plan, outcome: outcome, report: documents, isUnderWay: true))
    try jobs.handle(DeliveryQueue.Message.unstaged(run: run.number, SystemError("fsync", "staging", code: EIO)))
    guard case .reporting(let finishing)? = jobs.runs[run.number]?.phase else { return #expect(Bool(false)) }
    #expect(finishing.report == nil && !finishing.isUnderWay)
    #expect(jobs.flow.holds[.ending(run.number)]?.attempts == 1)
    jobs.act(.finish(run.number))
    var written: ReportDelivery?
    while written == nil {
      mailbox.wait()
      for case .written(_, let report) in mailbox.collect() { written = report }
    }
    #expect(written?.isRepeated == false && written?.documents.last?.target == "report.json")
    engine.shutdown()
  }

  @Test func `run gives up after a minute without success`() throws {
    try plan(.failure(SystemError("open", "f", code: EMFILE)))
    var waitLimits = WaitLimits(Configuration(filters: try Recipe(parsing: "none"), processors: 1), settleTime: 2)
    let now = Clock.monotonicSeconds
    try waitLimits.check(jobs, now: now)
    try waitLimits.check(jobs, now: now + 59)
    jobs.suspension.failures.wroteSomething(now: Clock.monotonicSeconds)
    try waitLimits.check(jobs, now: now + 60)
    #expect(throws: StopError.self) { try waitLimits.check(jobs, now: now + 121) }
    engine.shutdown()
  }

  @Test func `a pause is not over before a manifest that is being planned is accepted`() throws {
    var configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    configuration.lockWait = 0
    var waitLimits = WaitLimits(configuration, settleTime: 0)
    try deliveries.root.write("", as: "inbox/backup.lock")
    let locks = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil).scan().locks
    _ = jobs.suspension.update(locks: locks, now: Clock.monotonicSeconds)
    jobs.start(try #require(jobs.table.queue.next { _ in false }))
    // The message that it is planned has not been handled.
    try waitLimits.check(jobs, now: Clock.monotonicSeconds + 1)
    try handleMessages()
    #expect(throws: StopError.self) { try waitLimits.check(jobs, now: Clock.monotonicSeconds + 1) }
    #expect(try deliveries.ledger.liveJobs().count == 1)
    engine.shutdown()
  }

  @Test(arguments: [(60, 60), (1, 3)] as [(Double, Double)])
  func `a manifest that is being written is awaited for the limit, or as long as a file settles`(
    limit: Double, seconds: Double
  ) throws {
    var configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    (configuration.lockWait, configuration.pollInterval) = (limit, 1)
    var waitLimits = WaitLimits(configuration, settleTime: 2)
    let now = Clock.monotonicSeconds
    try waitLimits.check(jobs, now: now)
    try waitLimits.check(jobs, now: now + seconds - 0.5)
    do {
      try waitLimits.check(jobs, now: now + seconds)
      Issue.record("it is awaited for longer")
    } catch StopError.unsettled {}
    engine.shutdown()
  }

  @Test func `while the cache is cleared for want of space no manifest counts as unsettled`() throws {
    var configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    configuration.lockWait = 0
    var waitLimits = WaitLimits(configuration, settleTime: 0)
    jobs.suspension.space.minFree = .max
    let now = Clock.monotonicSeconds
    _ = jobs.suspension.update(locks: [], now: now)
    try waitLimits.check(jobs, now: now)
    jobs.suspension.space.cacheWasCleared()
    _ = jobs.suspension.update(locks: [], now: now)
    do {
      try waitLimits.check(jobs, now: Clock.monotonicSeconds + 1)
      Issue.record("the pause is not over the limit")
    } catch StopError.pausedTooLong {}
    engine.shutdown()
  }
}

extension LiveJobs {
  /// Does what is to be done about a run.
  func act(_ action: RunTable.Action) { perform(table.perform(action, context)) }

  func start(_ source: JobPlanning.Source, replacing replaced: Int? = nil) {
    perform(table.start(source, replacing: replaced, context))
  }
}
