import Foundation
import Imaging
import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Delivery
@testable import Inbox
@testable import JobIndex
@testable import Model
@testable import Operations
@testable import Planning

@Suite(.timeLimit(.minutes(30))) struct JobPlannerTests {
  private let deliveries: Deliveries
  private let planner: JobPlanner

  init() throws {
    deliveries = try Deliveries()
    let outbox = OutboxFolder(path: deliveries.root.file("out"))
    planner = JobPlanner(
      inbox: try Inbox(path: deliveries.root.file("inbox"), extraLock: nil), outbox: outbox,
      staging: try OpenFolder(deliveries.root.file("staging")), state: deliveries.state, ledger: deliveries.ledger,
      delivery: deliveries.queue, indexes: JobIndexPool(),
      configuration: Configuration(filters: try Recipe(parsing: "none"), processors: 1),
      runNames: RunNames { nil })
  }

  /// Accepts a manifest of the inbox and plans it.
  private func plan(_ manifest: String, as file: String = "job.txt") throws -> Plan {
    try plan(accept(manifest, as: file))
  }

  private func accept(_ manifest: String, as file: String) throws -> LedgerJob {
    _ = try SpawnedProcess.whileNoneStarts { try deliveries.root.write(manifest, as: "inbox/" + file) }
    return try accept(file)
  }

  private func accept(_ file: String) throws -> LedgerJob {
    let manifest = try scanned(file)
    return try #require(try planner.accept(manifest, during: []))
  }

  /// A manifest of the inbox as a scan finds it.
  private func scanned(_ file: String = "job.txt") throws -> InboxScan.Manifest {
    let manifests = try planner.inbox.scan().manifests
    return try #require(manifests.first { $0.file == file })
  }

  private func plan(_ job: LedgerJob, isResumed: Bool = false) throws -> Plan {
    try planner.plan(job, JobManifest(text: job.details), number: 7, isResumed: isResumed, isCancelled: { false })
  }

  private func hasIndexFile(_ plan: Plan) -> Bool {
    FileManager.default.fileExists(atPath: deliveries.state.index(plan.job.runID))
  }

  /// Records that an earlier run of the job delivered something.
  private func remember(_ count: Int, job: String = "job") throws {
    try deliveries.ledger.commit([.accept(LedgerJob(runID: "earlier-" + job, name: job, details: ""))])
    let entries = (0..<count).map { number in
      LedgerEntry(
        position: number,
        delivery: Delivery(
          staged: "s", target: "images/\(number).jpg", bytes: number, sha256: "\(job) \(number)", origin: "o"),
        row: "{}")
    }
    try deliveries.ledger.commit(
      entries.map { .finish($0, run: "earlier-" + job, job: job) } + [.advance("earlier-" + job, to: .ended)])
  }

  @Test(arguments: [false, true])
  func `a manifest over which the program ended four times is rejected, unless its run has begun`(hasBegun: Bool) throws
  {
    var job = try accept("http://h/a\nhttp://h/b\n", as: "job.txt")
    if hasBegun {
      try deliveries.ledger.commit(plan(job).start.names + [.advance(job.runID, to: .running)])
      job.state = .running
    }
    let folder = try deliveries.state.openFolder()
    for _ in 1...4 {
      _ = try FiltrationJournal(in: folder, runs: [job.runID]).enter(.manifest(of: job.runID))
    }
    var planner = planner
    planner.journal = try FiltrationJournal(in: folder, runs: [job.runID])
    let plan = try planner.plan(
      job, JobManifest(text: job.details), number: 7, isResumed: true, isCancelled: { false })
    let why = "the program ended 4 times while it read this manifest"
    #expect(plan.findings.problems.map(\.message) == (hasBegun ? [] : [why]))
    #expect(plan.total == (hasBegun ? 2 : 0))
  }

  @Test func `a variant that waits for another of its entry does not wait for other entries besides`() throws {
    let lines = [
      #"{"name": "a", "url": "http://h/a"}"#, #"{"name": "b", "url": "http://h/b", "after": ["a"]}"#,
      #"{"name": "v", "url": "http://h/v", "after": ["a"], "variants": [{"name": "x"}, {"name": "y"}, {"name": "z"}]}"#,
    ]
    let plan = try plan(lines.joined(separator: "\n"), as: "job.jsonl")
    #expect(plan.start.dependencies?.waiting == 2 && plan.start.heldVariants == 2)
  }

  @Test(arguments: [false, true])
  func `a superseded run whose report was recorded keeps it if it was placed, and else is reported in history`(
    isPlaced: Bool
  ) throws {
    let job = try accept("http://h/a\n", as: "job.txt")
    let staging = try plan(job).run.staging
    let staged = staging.document("report.json")
    try staging.create(staged).write("{}")
    let document = Delivery(
      staged: staged, target: "report.json", bytes: 2, sha256: MessageDigest.hexDigest(of: "{}"), origin: "")
    let outcome = try JobOutcome(JobTally(), Transfers(), at: 0).text
    try deliveries.ledger.commit([
      .finish(Self.row(0, "a"), run: job.runID, job: "job"),
      .advance(job.runID, to: .finishing, outcome: outcome, documents: [document]),
      .accept(LedgerJob(runID: "99990101T000000Z-aaaaaaaa", name: "job", details: job.details)),
      .advance("99990101T000000Z-aaaaaaaa", to: .running),
    ])
    if isPlaced { staging.remove(staged) }
    let left = try #require(deliveries.ledger.liveJobs().first { $0.runID == job.runID })
    let again = try plan(left, isResumed: true)
    #expect((again.report != nil) == isPlaced && again.report?.isRepeated != false)
    #expect(again.run.folder.path.hasSuffix("/history/" + job.runID) == !isPlaced)
    #expect(again.outcome?.state == (isPlaced ? nil : .superseded))
    let recorded = try #require(deliveries.ledger.liveJobs().first { $0.runID == job.runID })
    #expect(recorded.documents.isEmpty == !isPlaced, "what is written anew is recorded anew")
  }

  @Test(arguments: [LedgerJob.State.accepted, .running, .finishing], [false, true])
  func `a run is superseded by a later one, unless that is not known to take its place, or was rejected`(
    state: LedgerJob.State, isRejected: Bool
  ) throws {
    let job = try accept("http://h/a\nhttp://h/b\nhttp://h/c\n", as: "job.txt")
    let names = try plan(job).start.names
    var outcome = JobOutcome(JobTally(), Transfers(), at: 0)
    if isRejected { outcome.isRejectedReplacement = true }
    let later = "99990101T000000Z-aaaaaaaa"
    try deliveries.ledger.commit(
      names + [
        .advance(job.runID, to: .running), .finish(Self.row(1, "b"), run: job.runID, job: "job"),
        .accept(LedgerJob(runID: later, name: "job", details: job.details)),
        .advance(later, to: state, outcome: state == .finishing ? outcome.text : nil),
      ])
    let left = try #require(deliveries.ledger.liveJobs().first { $0.runID == job.runID })
    let isSuperseded = state == .running || state == .finishing && !isRejected
    #expect(try (plan(left, isResumed: true).outcome?.state == .superseded) == isSuperseded)
  }

  private static func row(_ position: Int, _ name: String) -> LedgerEntry {
    let text = #"{"index":\#(position),"name":"\#(name)","url":"http://h/\#(name)","state":"filtered","attempts":1}"#
    return LedgerEntry(position: position, delivery: nil, row: text)
  }

  @Test(arguments: [false, true])
  func `a run whose manifest was replaced before the program ended is counted, and leaves nothing without rows`(
    hasRow: Bool
  ) throws {
    let old = try accept("http://h/a\nhttp://h/b\nhttp://h/c\n", as: "job.txt")
    try deliveries.ledger.commit(
      plan(old).start.names + [.advance(old.runID, to: .running)]
        + (hasRow ? [.finish(Self.row(1, "b"), run: old.runID, job: "job")] : []))
    let new = try accept("http://h/new\n", as: "job.txt")
    var manifest = try JobManifest(text: new.details)
    let first = manifest.accepted - 5000
    manifest.chain = .init(runID: old.runID, accepted: first)
    try deliveries.ledger.commit([.note(new.runID, details: manifest.text)])
    let left = try #require(deliveries.ledger.liveJobs().first { $0.runID == old.runID })
    for _ in 1...2 where hasRow {
      let plan = try plan(left, isResumed: true)
      #expect(plan.outcome?.state == .superseded)
      #expect(plan.outcome?.counts == .init(total: 3, filtered: 1, failed: 0, cancelled: 2, reused: 0))
      let log = try #require(deliveries.text("job/history/\(old.runID)/entries.jsonl"))
      #expect(log.split(separator: "\n").count == 1 && deliveries.text("job/entries.jsonl") == nil)
    }
    if !hasRow { #expect(throws: SupersededRun.self) { try plan(left, isResumed: true) } }
    let jobs = try deliveries.ledger.liveJobs()
    #expect(jobs.map(\.runID) == (hasRow ? [old.runID] : []) + [new.runID])
    #expect(try plan(#require(jobs.last), isResumed: true).run.accepted == first, "what was asked for since is known")
  }

  @Test func `a manifest is planned: its entries are in the index, its hosts prepared, its folder there`() throws {
    let plan = try plan("http://h/a\nhttp://g/b\n")
    #expect(plan.total == 2 && plan.findings.problems == [] && plan.tally == JobTally() && !plan.earlier.hasOutputs)
    #expect(plan.run.number == 7 && plan.run.runID == plan.job.runID && plan.run.folder.name == "job")
    #expect(plan.unsynced == [deliveries.root.file("out")], "the folder has a name that was not synced")
    #expect(try ScheduledJobs(plan.index).everything() == [0, 1])
    #expect(try deliveries.root.names(in: "out") == ["job"])
  }

  @Test func `the index of a small manifest lies in memory, and that of a large one in a file`() throws {
    let line = "http://h/" + String(repeating: "x", count: 1014) + "\n"
    let limit = JobPlanner.memoryLimit / line.utf8.count
    for (lines, isInMemory) in [(1, true), (limit, true), (limit + 1, false)] {
      let plan = try plan(String(repeating: line, count: lines), as: "job-\(lines).txt")
      #expect(plan.total == lines)
      #expect(hasIndexFile(plan) == !isInMemory, "\(lines) lines")
    }
  }

  @Test func `of a packed manifest, and of a job with outputs, nobody knows how large the index will be`() throws {
    let packed = try Gzip.packed([Array("http://h/a\n".utf8)])
    try packed.write(to: URL(fileURLWithPath: planner.inbox.path + "/packed.txt.gz"))
    let plan = try plan(accept("packed.txt.gz"))
    #expect(plan.total == 1 && hasIndexFile(plan))
    try remember(1)
    #expect(try hasIndexFile(self.plan("http://h/a\n")))
  }

  @Test(arguments: [1, 512, 1300])
  func `what earlier runs of the job delivered is copied to the index, and other jobs' outputs are not`(count: Int)
    throws
  {
    try remember(count)
    try remember(2, job: "other")
    let plan = try plan("http://h/a\n")
    #expect(plan.earlier.hasOutputs)
    for number in Set([0, count / 2, count - 1]) {
      let output = try #require(try plan.index.outputs(at: "images/\(number).").first)
      #expect(output.bytes == number && output.sha256 == "job \(number)" && output.origin == "o")
    }
    #expect(try plan.index.outputs(at: "images/\(count).").isEmpty)
    #expect(try plan.index.database.first("SELECT count(*) FROM outputs") { $0.integer(0) } == count)
  }

  @Test func `a manifest with problems is rejected as a whole`() throws {
    let plan = try plan("\"http://h/a\"\n{\n", as: "job.jsonl")
    #expect(plan.findings.problems.map(\.code) == [.syntax])
  }

  @Test func `what an earlier run left in the job's folder is put aside`() throws {
    try deliveries.root.makeFolder("out/job")
    try deliveries.root.write("{}", as: "out/job/report.json")
    let plan = try plan("http://h/a\n")
    #expect(plan.unsynced.isEmpty)
    #expect(try deliveries.root.names(in: "out/job").sorted() == ["entries.jsonl", "history"])
  }

  @Test func `a job that an earlier process left is planned from its snapshot, without what has ended`() throws {
    var job = try accept("http://h/a\nhttp://h/b\nhttp://h/c\n", as: "job.txt")
    try deliveries.root.makeFolder("out/job")
    try deliveries.root.write("not of this run", as: "out/job/report.json")
    let failed = LedgerEntry(position: 1, delivery: nil, row: ReportRow.sample(1, state: .failed).json.text)
    let pause = LedgerPause(cause: "lock", lock: "a.lock", reason: nil, began: 5)
    try deliveries.ledger.commit([
      .name(job.runID, job: "job", pages: 0), .advance(job.runID, to: .running),
      .finish(failed, run: job.runID, job: "job"), .pause(pause, run: job.runID),
    ])
    job.state = .running
    try Folder.removeFile(planner.inbox.path + "/job.txt")
    let plan = try plan(job, isResumed: true)
    #expect(plan.total == 3 && plan.tally.counts.total == 1 && plan.tally.counts.failed == 1)
    #expect(plan.pauses == [pause])
    #expect(try ScheduledJobs(plan.index).everything() == [0, 2])
    #expect(deliveries.text("job/report.json") == "not of this run", "it was put aside when the run was new")
    #expect(try deliveries.log(plan.run).map(\.index) == [1])
  }

  @Test func `names are recorded when a run begins, those before the last 32 000 when it is planned`() throws {
    let job = try accept(String(repeating: "http://h/a\n", count: 32_001), as: "job.txt")
    let first = try plan(job)
    #expect(try first.start.names.count == 2 && deliveries.ledger.namedRun(for: job.runID, job: "job") == nil)
    // Planned again before it has begun, as by another process.
    let again = try plan(job, isResumed: true)
    #expect(again.start.names.count == 2)
    try deliveries.ledger.commit(again.start.names + [.advance(job.runID, to: .running)])
    let run = try #require(try deliveries.ledger.namedRun(for: job.runID, job: "job"))
    #expect(try run.pages == 33 && deliveries.ledger.hasAllNames(of: run))
    var live = job
    live.state = .running
    let resumed = try plan(live, isResumed: true)
    #expect(try resumed.start.names.isEmpty && resumed.index.entry(at: 32_000)?.name == "a-32001")
  }

  @Test(arguments: [LedgerJob.State.accepted, .running], [false, true])
  func `a run that has begun under names that are lost is set aside, and one that has not is planned`(
    state: LedgerJob.State, isPageLost: Bool
  ) throws {
    var job = try accept("http://h/a\nhttp://g/a\n", as: "job.txt")
    if isPageLost { try deliveries.ledger.commit([.name(job.runID, job: "job", pages: 1)]) }
    try deliveries.ledger.commit([.advance(job.runID, to: state)])
    job.state = state
    if state == .accepted {
      #expect(try plan(job, isResumed: true).start.names.count == 2)
    } else {
      #expect(throws: DamagedJob.self) { try plan(job, isResumed: true) }
    }
    let given = try accept(#"{"name": "a", "url": "http://h/a"}"#, as: "given.jsonl")
    try deliveries.ledger.commit([.advance(given.runID, to: .running)])
    #expect(try plan(given, isResumed: true).start.names.isEmpty, "names that are given cannot be lost")
  }

  @Test func `planning ends soon when it is cancelled, and the job stays in the ledger`() throws {
    let job = try accept("http://h/a\n", as: "job.txt")
    #expect(throws: CancellationError.self) {
      try planner.plan(job, JobManifest(text: job.details), number: 1, isResumed: false, isCancelled: { true })
    }
    #expect(try deliveries.ledger.liveJobs() == [job])
    #expect(try plan(job).total == 1)
  }

  @Test func `a manifest whose job has ended is removed, one that was replaced is not`() throws {
    let job = try accept("http://h/a\n", as: "job.txt")
    let manifest = try scanned()
    #expect(planner.removeIfDone(manifest) == nil)
    try deliveries.ledger.commit([.advance(job.runID, to: .ended)])
    try deliveries.root.write("http://h/another\n", as: "inbox/job.txt")
    let replaced = try scanned()
    #expect(planner.removeIfDone(replaced) == nil)
    let next = try accept("http://h/b\n", as: "job.txt")
    try deliveries.ledger.commit([.advance(next.runID, to: .ended)])
    let done = try scanned()
    guard case .alreadyDone(trouble: nil)? = planner.removeIfDone(done) else {
      return #expect(Bool(false), "it was not removed")
    }
    #expect(try deliveries.root.names(in: "inbox").isEmpty)
  }

  @Test func `a file that was named and went away is missing, one that is there is accepted where it lies`() throws {
    let path = try deliveries.root.write("http://h/a\n", as: "named.txt")
    let file = try NamedManifest(path, inbox: planner.inbox.path)
    let job = try planner.accept(file, during: [])
    #expect(job.name == "named")
    #expect(try JobManifest(text: job.details).inboxPath == nil)
    try Folder.removeFile(path)
    #expect(throws: StopError.self) { try planner.accept(file, during: []) }
  }
}
