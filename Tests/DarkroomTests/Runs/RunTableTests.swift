import System
import Testing
import Transfer

@testable import Darkroom
@testable import Delivery
@testable import Inbox
@testable import Ledger
@testable import Model

/// What becomes of a run, on values alone.
@Suite struct RunTableTests {
  private var table = RunTable(queue: JobQueue(goal: .watch, unfinished: []))
  private var context = RunTable.Context(now: 100, milliseconds: 100_000, wall: 5000)

  init() throws { table.queue.update([], settled: []) }

  private mutating func add(_ run: JobRun) { table.runs[run.number] = run }

  /// What an effect is, in short.
  private static func name(_ effect: RunTable.Effect) -> String {
    switch effect {
    case .plan(let run, let request): "plan \(run)" + (request.isReplacement ? " beside" : "")
    case .add(let run, _, _): "add \(run)"
    case .close(let run, _, let plan): "close \(run)" + (plan == nil ? "" : " sparing")
    case .cancel(let run, _, let plan): "cancel \(run)" + (plan == nil ? "" : " sparing")
    case .removeEntries(let run): "remove entries of \(run)"
    case .recordCancelled(let run, _): "record cancelled \(run)"
    case .recordSuperseded(let run, _, _): "record superseded \(run)"
    case .writeReport(let run, _, _): "write report of \(run)"
    case .deliver: "deliver"
    case .closeLog(let run): "close log of \(run)"
    case .reuse: "reuse index"
    case .removeRequests: "remove requests"
    case .reported(_, let outcome): "reported \(outcome.state)"
    case .ended(let runID): "ended \(runID)"
    case .record: "record"
    case .hold(_, _, _, _, let latest?): "hold manifest until \(latest)"
    case .hold(let subject, let reason, _, let space, nil):
      "hold \(subject): \(reason)" + (space.map { " \($0)" } ?? "")
    case .holdPlanning(let job, let runID): "hold \(job) as \(runID)"
    case .release: "release"
    case .observe(let event):
      switch event {
      case .warning: "warn"
      case .jobReplaced: "replaced"
      case .jobCancelled: "cancelled"
      case .jobStarted: "started"
      case .jobFetching: "fetching"
      case .jobEnded: "ended"
      default: "\(event)"
      }
    }
  }

  private mutating func step(_ event: RunEvent, of run: Int = 1) -> [String] {
    table.step(event, of: run, context).map(Self.name)
  }

  private mutating func perform(_ action: RunTable.Action) -> [String] {
    table.perform(action, context).map(Self.name)
  }

  private var phases: [JobRun.SamplePhase] { table.inOrder.map(\.samplePhase) }

  // MARK: Cancelling

  @Test(arguments: [JobRun.SamplePhase.unlisted, .list, .waiting, .works, .done])
  mutating func `whatever is cancelled closes, and only once`(phase: JobRun.SamplePhase) throws {
    add(try .sample(1, phase))
    #expect(perform(.cancel(1)) == ["close 1", "cancelled"])
    #expect(phases == [.unrecorded])
    #expect(perform(.cancel(1)) == [])
  }

  @Test(arguments: [JobRun.SamplePhase.reading, .ends, .unrecorded, .unreported, .reports])
  mutating func `what cannot be cancelled now goes on`(phase: JobRun.SamplePhase) throws {
    add(try .sample(1, phase))
    #expect(perform(.cancel(1)) == [] && phases == [phase])
  }

  @Test
  mutating func `what was not done of a cancelled run is recorded, then its report is written as that of any run`()
    throws
  {
    add(try .sample(1))
    _ = perform(.cancel(1))
    #expect(perform(.record(1)) == ["record cancelled 1"] && phases == [.ends])
    #expect(perform(.record(1)) == [], "once at a time")
    var tally = JobTally()
    for position in 0..<2 { tally.add(.sample(position, state: .cancelled)) }
    #expect(step(.closed(tally)) == ["release"] && phases == [.done])
    #expect(perform(.finish(1)) == ["remove entries of 1", "write report of 1"] && phases == [.reports])
    guard case .reporting(let reporting)? = table.runs[1]?.phase else { return #expect(Bool(false)) }
    #expect(reporting.outcome.state == .cancelled && reporting.outcome.counts.cancelled == 2)
  }

  @Test mutating func `a list that is cancelled has a report without rows, with what was asked for`() throws {
    add(try .sample(1, .list))
    var transfers = Transfers()
    var counts = Transfers.Counts()
    counts.requests = 3
    transfers.add(counts, of: "h")
    context.transfers = { [transfers] _ in transfers }
    _ = perform(.cancel(1))
    #expect(perform(.record(1)) == ["remove entries of 1", "write report of 1"])
    guard case .reporting(let reporting)? = table.runs[1]?.phase else { return #expect(Bool(false)) }
    #expect(reporting.outcome.state == .cancelled && reporting.outcome.transfers == transfers)
  }

  @Test mutating func `of the runs of a job that have nothing left only the first ends, and the others wait for it`()
    throws
  {
    for number in 1...3 { add(try .sample(number, .unrecorded)) }
    let limits = JobLimits(slots: 1, live: 9)
    #expect(table.actions(limits, resumedAt: 0, context) == [.record(1)])
    table.runs[1] = nil
    #expect(table.actions(limits, resumedAt: 0, context) == [.record(2)])
    context.isInProgress = { $0 == 2 }
    #expect(table.actions(limits, resumedAt: 0, context) == [], "something of it runs")
  }

  @Test(arguments: [nil, JobRun.CancelReason.requested])
  mutating func `what an earlier process had begun to cancel is cancelled, and no manifest takes its place before`(
    reason: JobRun.CancelReason?
  ) throws {
    let limits = JobLimits(slots: 1, live: 9)
    for (hasCancelled, next) in [(false, RunTable.Action.replace(1, by: 2)), (true, .cancel(1))] {
      add(try .sample(1, .waiting, file: "a.txt"))
      var plan = try #require(table.runs[1]?.plan)
      if hasCancelled { plan.tally.add(.sample(0, state: .cancelled)) }
      add(try .sample(1, .reading, file: "a.txt"))
      add(try .sample(2, .waiting, file: "a.txt", replacing: 1))
      table.runs[1]?.known.unwanted = hasCancelled ? reason : nil
      _ = step(.planned(.planned(plan)))
      #expect(table.actions(limits, resumedAt: 0, context) == [next])
    }
    #expect(table.runs[1]?.known.unwanted == reason ?? .removed)
  }

  // MARK: Replacing

  @Test mutating func `a replaced run closes for 10 s at most, and what it was to be is the start of the chain`() throws
  {
    add(try .sample(1, file: "a.txt"))
    add(try .sample(2, .waiting, file: "a.txt", replacing: 1))
    #expect(perform(.replace(1, by: 2)) == ["close 1 sparing", "record", "replaced"])
    #expect(phases == [.unrecorded, .waiting])
    #expect(table.runs[2]?.accepted?.manifest.chain == .init(runID: "run-1", accepted: 1000))
    #expect(table.endWaits(now: 109.9).isEmpty)
    #expect(table.endWaits(now: 110).map(Self.name) == ["cancel 1"])
    #expect(table.endWaits(now: 111).isEmpty, "once")
  }

  @Test mutating func `nothing of a replaced run is waited for when nobody wants the later one`() throws {
    add(try .sample(1, file: "a.txt"))
    add(try .sample(2, .waiting, file: "a.txt", replacing: 1))
    _ = perform(.replace(1, by: 2))
    table.runs[2]?.known.unwanted = .removed
    #expect(table.endWaits(now: 101).map(Self.name) == ["cancel 1"])
  }

  @Test mutating func `a third manifest spares of the first run only what it wants itself`() throws {
    add(try .sample(1, file: "a.txt"))
    add(try .sample(2, .waiting, file: "a.txt", replacing: 1))
    _ = perform(.replace(1, by: 2))
    add(try .sample(3, .waiting, file: "a.txt", replacing: 2))
    #expect(perform(.replace(2, by: 3)) == ["close 2 sparing", "cancel 1 sparing", "record", "replaced"])
    #expect(table.runs[3]?.accepted?.manifest.chain?.runID == "run-1")
  }

  @Test(arguments: [0, 1])
  mutating func `a superseded run without rows leaves nothing, one with rows a report in history`(rows: Int) throws {
    add(try .sample(1, file: "a.txt"))
    add(try .sample(2, .waiting, file: "a.txt", replacing: 1))
    _ = perform(.replace(1, by: 2))
    #expect(perform(.record(1)) == ["record superseded 1"])
    var tally = JobTally()
    for position in 0..<rows { tally.add(.sample(position, state: .failed)) }
    let effects = step(.closed(tally))
    guard rows > 0 else {
      #expect(
        effects == ["release", "remove entries of 1", "release", "close log of 1", "reuse index", "ended run-0001"])
      #expect(phases == [.waiting])
      return
    }
    #expect(effects == ["release", "remove entries of 1", "close log of 1", "write report of 1"])
    guard case .reporting(let reporting)? = table.runs[1]?.phase else { return #expect(Bool(false)) }
    #expect(reporting.outcome.state == .superseded && reporting.plan.run.isInHistory)
  }

  @Test mutating func `what replaces a run that has ended is planned again, as a run of its own`() throws {
    add(try .sample(2, .waiting, file: "a.txt", replacing: 1))
    #expect(perform(.separate(2)) == ["reuse index", "plan 2"])
    #expect(phases == [.reading] && table.runs[2]?.replaces == nil && table.runs[2]?.isPlannedAgain == true)
  }

  @Test mutating func `when a run goes what was to replace it replaces what that was to replace`() throws {
    add(try .sample(2, .waiting, replacing: 1))
    add(try .sample(3, .waiting, replacing: 2))
    #expect(table.remove(2).map(Self.name) == ["release", "close log of 2", "reuse index"])
    #expect(table.runs[3]?.replaces == 1)
  }

  // MARK: Reports

  @Test mutating func `documents that are written are delivered, also by later attempts, and not written again`() throws
  {
    add(try .sample(1, .done))
    _ = perform(.finish(1))
    let report = try ReportDelivery(
      run: .sample, manifest: .sample(), outcome: JobOutcome(JobTally(), Transfers(), at: 0), documents: [])
    #expect(step(.written(report)) == ["deliver"])
    #expect(perform(.finish(1)) == [], "it is under way")
    #expect(step(.failed(.reporting, .temporary("EIO"))) == ["hold ending(1): EIO"] && phases == [.unreported])
    #expect(perform(.finish(1)) == ["deliver"])
    #expect(step(.unstaged(.temporary("EIO"))) == ["hold ending(1): EIO"])
    #expect(perform(.finish(1)) == ["write report of 1"], "what may not be on disk is written again")
  }

  @Test(arguments: [JobQueue.Goal.watch, .inbox])
  mutating func `run gives a manifest that cannot be moved a minute, watch all the time there is`(goal: JobQueue.Goal)
    throws
  {
    table.queue = JobQueue(goal: goal, unfinished: [])
    add(try .sample(1, .done))
    _ = perform(.finish(1))
    let report = try ReportDelivery(
      run: .sample, manifest: .sample(), outcome: JobOutcome(JobTally(), Transfers(), at: 0), documents: [])
    _ = step(.written(report))
    let latest = goal == .watch ? "inf" : "160.0"
    #expect(step(.failed(.reporting, .manifestStays("x"))) == ["hold manifest until \(latest)"])
    context.holds.hold(.ending(1), "x", isOfManifest: true, now: 100)
    for (now, mayLeave) in [(130.0, false), (160.0, goal != .watch)] {
      context.now = now
      guard case .deliver(let delivery)? = table.perform(.finish(1), context).last else { return #expect(Bool(false)) }
      #expect(delivery.mayLeaveManifest == mayLeave)
      #expect(step(.failed(.reporting, .manifestStays("x"))) == ["hold manifest until \(latest)"])
    }
  }

  @Test
  mutating func `a run that has nothing left when it begins is reported at once, unless no report may be written`()
    throws
  {
    for mayReport in [true, false] {
      add(try .sample(1, .waiting, total: 0))
      context.gate.wasRefused = !mayReport
      let effects = perform(.begin(1))
      #expect(
        effects == ["add 1", "record", "started"] + (mayReport ? ["remove entries of 1", "write report of 1"] : []))
    }
  }

  @Test mutating func `a report has the failures of hosts that could not be reached, which were asked nothing`() throws
  {
    add(try .sample(1, .done))
    var transfers = Transfers()
    transfers.add(.init(), of: "h", failure: .connect)
    context.transfers = { [transfers] _ in transfers }
    _ = perform(.finish(1))
    guard case .reporting(let reporting)? = table.runs[1]?.phase else { return #expect(Bool(false)) }
    #expect(reporting.outcome.transfers == transfers && transfers.total.requests == 0)
  }

  // MARK: Trouble

  @Test(arguments: [
    (RunTable.Trouble.noSpace, ["release", "close log of 1"]),
    (.temporary("busy"), ["hold planning(\"job\"): busy", "release", "close log of 1"]),
    (.temporary("large", space: 9), ["hold planning(\"job\"): large 9", "release", "close log of 1"]),
  ])
  mutating func `a run that cannot be planned now goes back into the queue, with what is known of it`(
    trouble: RunTable.Trouble, effects: [String]
  ) throws {
    add(try .sample(1, .reading))
    table.runs[1]?.known.unwanted = .removed
    #expect(step(.failed(.planning, trouble)) == effects)
    #expect(table.runs.isEmpty)
    let next = try #require(table.queue.next { _ in false })
    #expect(next.job == "job")
    #expect(table.start(next, context).map(Self.name) == ["plan 1"])
    let (job, manifest) = try #require(try JobRun.sample(1).accepted)
    _ = step(.accepted(job, manifest))
    #expect(table.runs[1]?.known.unwanted == .removed && table.runs[1]?.known.order == 1)
  }

  @Test mutating func `the manifest of a run that is accepted again is not taken for a later one`() throws {
    add(try .sample(3, .reading, file: "a.txt"))
    _ = table.step(.failed(.planning, .noSpace), of: 3, context)
    // The inbox was away, and is there again.
    table.inboxReturned()
    let manifest = InboxScan.Manifest(file: "a.txt", job: "job", identity: .sample(size: 2))
    #expect(table.queue.fresh(of: [manifest]).count == 1)
    guard case .unfinished(let job)? = table.queue.next(isLive: { _ in false }) else { return #expect(Bool(false)) }
    add(JobRun(number: 9, source: .unfinished(job), now: 0))
    let accepted = try JobManifest.sample(file: "a.txt", inboxPath: "/in/a.txt", identity: manifest.identity.text)
    _ = table.step(.accepted(job, accepted), of: 9, context)
    #expect(table.runs[9]?.order == 3 && table.queue.fresh(of: [manifest]).isEmpty)
  }

  @Test(arguments: [nil, "read-only"])
  mutating func `a manifest that was not there when it was to be moved is found when the inbox is back`(
    trouble: String?
  ) throws {
    let found = InboxScan.Manifest(file: "a.txt", job: "job", identity: .sample(size: 2))
    let manifest = try JobManifest.sample(file: "a.txt", inboxPath: "/in/a.txt", identity: found.identity.text)
    var run = try JobRun.sample(1, .reading)
    run.accepted?.manifest = manifest
    try run.enter(.reports)
    add(run)
    // The inbox is back before it is known that the report is delivered.
    table.inboxReturned()
    #expect(table.queue.fresh(of: [found]).isEmpty, "it is that of a live run")
    let outcome = ReportDelivery.Outcome(job: JobOutcome(JobTally(), .init(), at: 0), manifestTrouble: trouble)
    _ = step(.delivered(outcome))
    #expect(table.runs.isEmpty && table.queue.fresh(of: [found]).isEmpty == (trouble != nil))
  }

  @Test
  mutating func `a run that cannot be planned at all stays for the next start, and so do later manifests of its job`()
    throws
  {
    add(try .sample(1, .reading))
    #expect(step(.failed(.planning, .permanent("?"))) == ["warn", "release", "close log of 1"])
    #expect(table.runs.isEmpty && table.summary.hadTrouble && table.queue.next { _ in false } == nil)
  }

  @Test mutating func `the entries of a run that cannot be closed are removed with it`() throws {
    add(try .sample(1, .ends))
    let effects = step(.failed(.closing, .permanent("?")))
    #expect(effects == ["warn", "remove entries of 1", "release", "close log of 1", "reuse index"])
    #expect(table.runs.isEmpty && table.summary.hadTrouble)
  }

  @Test mutating func `a run whose index is damaged is planned again, unless its report is under way`() throws {
    add(try .sample(1, .reports))
    #expect(step(.indexUnreadable("malformed")) == [])
    add(try .sample(1))
    #expect(
      step(.indexUnreadable("malformed")) == [
        "hold index(\"run-1\"): malformed", "hold job as run-1", "remove entries of 1", "release", "close log of 1",
      ], "its index serves nobody any more")
    guard case .unfinished(let job)? = table.queue.next(isLive: { _ in false }) else { return #expect(Bool(false)) }
    #expect(job.runID == "run-1" && job.state == .running)
  }

  @Test(arguments: [(nil, 700.0), (130, 130), (5000, 700)])
  mutating func `a run that is set aside is planned again in its turn, with what is known of it`(
    deferredUntil: Double?, end: Double
  ) throws {
    add(try .sample(1, file: "a.txt"))
    var transfers = Transfers()
    transfers.add(.init(requests: 3), of: "http://h")
    let hold = HostHold(cause: "refused", host: "http://h", began: 1, ended: 2)
    context.transfers = { [transfers] _ in transfers }
    context.hostHolds = { _ in [hold] }
    context.deferredUntil = { _ in deferredUntil }
    #expect(perform(.setAside(1)) == ["remove entries of 1", "release", "close log of 1", "reuse index"])
    #expect(table.runs.isEmpty && !table.queue.isOver && table.queue.asideEnd(after: 100) == end)
    #expect(table.queue.next(isLive: { _ in false }, now: end - 1, withAside: false) == nil)
    guard case .unfinished(let job)? = table.queue.next(isLive: { _ in false }, now: end, withAside: false) else {
      return #expect(Bool(false))
    }
    #expect(job.runID == "run-1" && job.state == .running)
    #expect(table.start(.unfinished(job), context).map(Self.name) == ["plan 1"])
    let (_, manifest) = try #require(try JobRun.sample(1, file: "a.txt").accepted)
    _ = step(.accepted(job, manifest), of: 1)
    let run = try #require(table.runs[1])
    #expect(run.known.hosts.ended == [hold] && run.known.sourceTransfers == transfers && run.order == 1)
  }

  @Test mutating func `what is reported of a run that is not live any more changes nothing`() throws {
    let (job, manifest) = try #require(try JobRun.sample(1).accepted)
    for event in [
      RunEvent.accepted(job, manifest), .planned(.cancelled), .closed(JobTally()), .failed(.planning, .noSpace),
      .indexUnreadable(""),
    ] {
      #expect(step(event, of: 7) == [] && table.runs.isEmpty)
    }
  }
}
