import Foundation
import Ledger
import Synchronization
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

@Suite(.blocking) struct DeliveryQueueTests {
  private let deliveries: Deliveries
  private var queue: DeliveryQueue { deliveries.queue }

  init() throws { deliveries = try Deliveries() }

  /// Submits a job to be accepted.
  /// - Returns: The answer, once there is one.
  private func accept(_ runID: String) -> Answer {
    let answer = Answer()
    queue.accept(.init(changes: [.accept(LedgerJob(runID: runID, name: runID, details: ""))]) { answer.set($0) })
    return answer
  }

  @Test func `records of three jobs that end together share two commits`() throws {
    let runs = try (1...3).map { try deliveries.run($0) }
    let records = try runs.flatMap { run in try (0..<5).map { try deliveries.filtered($0, of: run) } }
    try deliveries.hold()
    let commits = CommitCounter(deliveries.state)
    for record in records { queue.deliver(record, isUrgent: false) }
    deliveries.release()
    let sent = deliveries.wait(records: 15)
    #expect(commits.count() == 2, "the intents, and the ends")
    #expect(sent.rows.allSatisfy { $0.state == .filtered })
    for run in runs {
      #expect(deliveries.text("\(run.job)/images/entry 4.jpg") == "picture")
      #expect(try deliveries.log(run).map(\.index).sorted() == [0, 1, 2, 3, 4])
      #expect(try deliveries.ledger.output(job: run.job, target: "images/entry 0.jpg")?.identity != nil)
    }
    #expect(try deliveries.staged.isEmpty)
  }

  @Test func `results of jobs whose names are spelt differently go to their own folders`() throws {
    let runs = try [(1, "u\u{308}"), (2, "\u{fc}")].map { try deliveries.run($0, job: $1) }
    let records = try runs.map { try deliveries.filtered(0, of: $0, $0.runID) }
    try deliveries.hold()
    for record in records { queue.deliver(record, isUrgent: false) }
    deliveries.release()
    #expect(deliveries.wait(records: 2).rows.allSatisfy { $0.state == .filtered })
    for run in runs { #expect(deliveries.text("\(run.job)/images/entry 0.jpg") == run.runID) }
  }

  @Test func `a file that is taken for a result is recorded as itself, and as not made here`() throws {
    let run = try deliveries.run(1)
    try deliveries.root.makeFolder("out/job-1/images")
    try deliveries.root.write("picture", as: "out/job-1/images/entry 0.jpg")
    let before = try FileStatus(of: run.folder.file("images/entry 0.jpg")).identity
    for position in 0..<2 { queue.deliver(try deliveries.filtered(position, of: run), isUrgent: true) }
    #expect(deliveries.wait(records: 2).rows.allSatisfy { $0.state == .filtered })
    let outputs = try (0..<2).map {
      try #require(try deliveries.ledger.output(job: "job-1", target: "images/entry \($0).jpg"))
    }
    #expect(outputs[0].identity == before.text)
    #expect(try FileStatus(of: run.folder.file("images/entry 0.jpg")).identity == before)
    #expect(outputs.map { $0.origin.flatMap(Provenance.init(text:))?.isAdopted } == [true, false])
    #expect(try deliveries.staged.isEmpty)
  }

  @Test func `what came one by one has a batch for each`() throws {
    let run = try deliveries.run(1)
    let commits = CommitCounter(deliveries.state)
    for position in 0..<3 {
      queue.deliver(try deliveries.filtered(position, of: run), isUrgent: true)
      _ = deliveries.wait(records: 1)
    }
    #expect(commits.count() == 6)
  }

  @Test func `what is delivered soon shares a batch with what came before, and makes none by itself`() throws {
    let run = try deliveries.run(1)
    let records = try (0..<3).map { try deliveries.filtered($0, of: run) }
    try deliveries.hold()
    let commits = CommitCounter(deliveries.state)
    for record in records {
      queue.deliver(record, isUrgent: false)
      queue.deliverSoon()
    }
    deliveries.release()
    #expect(deliveries.wait(records: 3).rows.allSatisfy { $0.state == .filtered })
    queue.deliverSoon()
    queue.drain()
    #expect(commits.count() == 2, "the intents, and the ends")
  }

  @Test func `a result, the acceptance of a job and the report of another share two commits`() throws {
    let (first, second) = (try deliveries.run(1), try deliveries.run(2))
    let (record, report) = (try deliveries.filtered(0, of: first), try deliveries.report(second))
    try deliveries.hold()
    let commits = CommitCounter(deliveries.state)
    queue.deliver(record, isUrgent: false)
    queue.deliver(report)
    let answer = accept("run-0003")
    deliveries.release()
    let sent = deliveries.wait(records: 1, reports: 1)
    #expect(commits.count() == 2)
    #expect(throws: Never.self) { try answer.value?.get() }
    #expect(answer.value != nil)
    #expect(try sent.reported[2]?.get().job.state == .succeeded)
    #expect(try deliveries.ledger.liveJobs().map(\.runID) == ["run-0001", "run-0009", "run-0003"])
    #expect(try ReportHead(of: OpenFile(reading: second.folder.report))?.runID == "run-0002")
    #expect(deliveries.text("job-2/manifest.txt") == "snapshot")
    #expect(try deliveries.jobs == ["run-0001.txt"], "the snapshot of the job that has ended is gone")
    #expect(deliveries.text("job-1/images/entry 0.jpg") == "picture")
  }

  @Test func `accept returns when the job is durable`() throws {
    try queue.accept(LedgerJob(runID: "r", name: "j", details: "d"), during: [])
    #expect(try deliveries.ledger.liveJobs().map(\.runID) == ["r"])
    #expect(throws: (any Error).self) { try queue.accept(LedgerJob(runID: "r", name: "j", details: "d"), during: []) }
    #expect(deliveries.wait(isBroken: true).broken != nil)
  }

  @Test func `once the ledger has failed for good nothing is delivered that came after what it lacks`() throws {
    let run = try deliveries.run(1)
    // It is there already.
    queue.record([.accept(LedgerJob(runID: run.runID, name: run.job, details: ""))])
    #expect(deliveries.wait(isBroken: true).broken != nil)
    queue.deliver(try deliveries.filtered(0, of: run), isUrgent: true)
    #expect(throws: (any Error).self) { try queue.accept(LedgerJob(runID: "r", name: "j", details: ""), during: []) }
    queue.drain()
    #expect(try deliveries.ledger.intended(run: run.runID).isEmpty)
    #expect(try deliveries.ledger.liveJobs().map(\.runID) == [run.runID])
    #expect(deliveries.text("job-1/images/entry 0.jpg") == nil)
    #expect(try deliveries.log(run).isEmpty)
  }

  @Test func `what cannot be synced is tried again, and costs no other its acceptance or its delivery`() throws {
    let run = try deliveries.run(1)
    // To open a name of this length fails, whoever asks.
    let unopenable = deliveries.root.file("out/job-1/" + String(repeating: "x", count: 300))
    for number in 0..<20 {
      queue.record([], syncing: [unopenable])
      try queue.accept(LedgerJob(runID: "r\(number)", name: "j", details: ""), during: [])
    }
    #expect(try deliveries.ledger.liveJobs().count == 21)
    #expect(deliveries.wait(held: 1).broken == nil)
    queue.deliver(try deliveries.filtered(0, of: run), isUrgent: true)
    #expect(deliveries.wait(records: 1).rows.map(\.state) == [.filtered])
  }

  @Test func `a folder behind a symbolic link is not there to be synced`() throws {
    let run = try deliveries.run(1)
    try deliveries.root.link("out/job-1/images", to: deliveries.root.path)
    let link = deliveries.root.file("out/job-1/images")
    queue.record([.accept(LedgerJob(runID: "r", name: "j", details: ""))], syncing: [link])
    queue.drain()
    #expect(try deliveries.ledger.liveJobs().map(\.runID) == [run.runID, "r"])
  }

  @Test func `changes are made in their order, before what is submitted with them`() throws {
    let run = try deliveries.run(1)
    queue.record([.accept(LedgerJob(runID: "s", name: "s", details: "")), .advance("s", to: .running)])
    queue.record([.advance("s", to: .finishing, outcome: "o")])
    queue.record([])
    queue.deliver(try deliveries.failed(0, of: run), isUrgent: true)
    _ = deliveries.wait(records: 1)
    #expect(try deliveries.ledger.liveJobs().last?.outcome == "o")
  }

  @Test(arguments: 0..<20)
  func `once it is drained, all that was submitted before is durable`(number: Int) throws {
    for count in 1...5 {
      queue.record([.accept(LedgerJob(runID: "r\(count)", name: "j\(count)", details: ""))])
      queue.drain()
      #expect(try deliveries.ledger.liveJobs().count == count)
    }
  }

  @Test func `what has failed has a row, and no file`() throws {
    let run = try deliveries.run(1)
    queue.deliver(try deliveries.failed(0, of: run), isUrgent: true)
    let row = try #require(deliveries.wait(records: 1).rows.first)
    #expect(row.state == .failed && row.failure?.code == "dns")
    #expect(try deliveries.log(run) == [row])
    #expect(try deliveries.root.names(in: "out/job-1") == ["entries.jsonl"])
  }

  @Test func `what could not be written for want of space is rejected, and the rest of the batch delivered`() throws {
    let run = try deliveries.run(1)
    let records = try (0..<2).map { try deliveries.filtered($0, of: run) }
    records[0].fail(EntryFailure(SystemError("fsync", "f", code: ENOSPC)))
    try deliveries.hold()
    for record in records { queue.deliver(record, isUrgent: false) }
    deliveries.release()
    let sent = deliveries.wait(records: 2)
    #expect(sent.rejected.map(\.entry.position) == [0] && sent.rows.map(\.index) == [1])
    #expect(try deliveries.log(run).map(\.index) == [1])
  }

  @Test func `a name that is taken fails its entry alone, and its staged file goes`() throws {
    let run = try deliveries.run(1)
    try deliveries.root.makeFolder("out/job-1/images")
    try deliveries.root.write("theirs", as: "out/job-1/images/entry 0.jpg")
    try deliveries.hold()
    for position in 0..<2 { queue.deliver(try deliveries.filtered(position, of: run), isUrgent: false) }
    deliveries.release()
    let rows = deliveries.wait(records: 2).rows.sorted { $0.index < $1.index }
    #expect(rows.map(\.state) == [.failed, .filtered] && rows[0].failure?.code == "name-conflict")
    #expect(deliveries.text("job-1/images/entry 0.jpg") == "theirs")
    #expect(try deliveries.staged.isEmpty)
    #expect(try deliveries.ledger.intended(run: run.runID).isEmpty)
    #expect(try deliveries.ledger.output(job: run.job, target: "images/entry 0.jpg") == nil)
  }

  @Test func `a file where the folder of results is to be fails its entries, and those of other jobs are delivered`()
    throws
  {
    let runs = try (1...2).map { try deliveries.run($0) }
    try deliveries.root.write("theirs", as: "out/job-1/images")
    try deliveries.hold()
    for run in runs { queue.deliver(try deliveries.filtered(0, of: run), isUrgent: false) }
    deliveries.release()
    let committed = deliveries.wait(records: 2).committed.sorted { $0.record.run.number < $1.record.run.number }
    #expect(committed.map(\.row.state) == [.failed, .filtered])
    #expect(committed[0].row.failure?.code == "name-conflict")
    #expect(deliveries.text("job-1/images") == "theirs")
    #expect(try deliveries.staged.isEmpty)
  }

  @Test(.disabled(if: ImmutableFolder.obstacle != nil, Comment(rawValue: ImmutableFolder.obstacle ?? "")))
  func `a report whose name cannot be freed fails its job alone, and is delivered once it can`() throws {
    let runs = try (1...3).map { try deliveries.run($0) }
    for name in ["report.json", "history"] { try deliveries.root.makeFolder("out/job-2/" + name) }
    let history = try ImmutableFolder(deliveries.root.file("out/job-2/history"))
    let reports = try runs.prefix(2).map { try deliveries.report($0) }
    let record = try deliveries.filtered(0, of: runs[2])
    try deliveries.hold()
    for report in reports { queue.deliver(report) }
    queue.deliver(record, isUrgent: false)
    deliveries.release()
    let sent = deliveries.wait(records: 1, reports: 2)
    #expect(try sent.reported[1]?.get().job.state == .succeeded)
    #expect(throws: SystemError.self) { try sent.reported[2]?.get() }
    #expect(sent.rows.map(\.state) == [.filtered])
    let live = try deliveries.ledger.liveJobs()
    #expect(live.first { $0.runID == "run-0001" } == nil)
    #expect(live.first { $0.runID == "run-0002" }?.state == .finishing)
    #expect(try deliveries.jobs == ["run-0002.txt", "run-0003.txt"])

    history.release()
    queue.deliver(try deliveries.report(runs[1]))
    #expect(try deliveries.wait(reports: 1).reported[2]?.get().job.state == .succeeded)
    #expect(try ReportHead(of: OpenFile(reading: runs[1].folder.report))?.runID == "run-0002")
    #expect(try deliveries.ledger.liveJobs().first { $0.runID == "run-0002" } == nil)
  }

  @Test func `the manifest leaves the inbox with its report, unless it was replaced`() throws {
    let runs = try (1...2).map { try deliveries.run($0) }
    let paths = try runs.map { try deliveries.root.write("http://h/a\n", as: "inbox/\($0.job).txt") }
    let reports = try zip(runs, paths).map { try deliveries.report($0, inboxPath: $1) }
    try Folder.rename(deliveries.root.write("new", as: "inbox/.new"), to: paths[1])
    for report in reports { queue.deliver(report) }
    let sent = deliveries.wait(reports: 2)
    for number in 1...2 { #expect(try sent.reported[number]?.get().manifestTrouble == nil) }
    #expect(try deliveries.root.names(in: "inbox") == ["job-2.txt"])
  }

  @Test func `the log of a run that is forgotten is closed, and gone on with when it is opened again`() throws {
    let run = try deliveries.run(1)
    for position in 0..<2 {
      queue.deliver(try deliveries.failed(position, of: run), isUrgent: true)
      _ = deliveries.wait(records: 1)
      queue.forget(run: run.number)
    }
    #expect(try deliveries.log(run).map(\.index) == [0, 1])
  }

  /// What becomes of the log while the run goes on.
  enum Loss: CaseIterable { case none, removed, folderMoved, replaced }

  @Test(arguments: Loss.allCases, [false, true])
  func `the log is complete when the report is there, whatever has become of it`(loss: Loss, isClosed: Bool) throws {
    let run = try deliveries.run(1)
    for position in 0..<2 { deliveries.queue.deliver(try deliveries.filtered(position, of: run), isUrgent: true) }
    _ = deliveries.wait(records: 2)
    if isClosed { deliveries.queue.rest(run: 1) }
    let folder = deliveries.root.file("out/job-1")
    switch loss {
    case .none: break
    case .removed: try Folder.removeFile(folder + "/entries.jsonl")
    case .folderMoved: try Folder.rename(folder, to: deliveries.root.file("taken"))
    case .replaced:
      try Folder.removeFile(folder + "/entries.jsonl")
      try deliveries.root.write("theirs", as: "out/job-1/entries.jsonl")
    }
    deliveries.queue.deliver(try deliveries.report(run))
    let outcome = try #require(deliveries.wait(reports: 1).reported[1]).get()
    // Whether a file is the run's is not asked when none is open.
    if loss == .replaced, isClosed { return #expect(outcome.movedAway.isEmpty) }
    #expect(try deliveries.log(run).map(\.index).sorted() == [0, 1])
    #expect(outcome.movedAway.count == (loss == .replaced ? 1 : 0))
    for path in outcome.movedAway { #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs") }
  }

  @Test func `a run whose log cannot be written is told of, and costs no other its log`() throws {
    let runs = try (1...2).map { try deliveries.run($0) }
    try deliveries.root.makeFolder("out/job-1/entries.jsonl")
    try deliveries.hold()
    for run in runs { queue.deliver(try deliveries.failed(0, of: run), isUrgent: false) }
    deliveries.release()
    let sent = deliveries.wait(records: 2)
    #expect(sent.committed.count == 2 && sent.broken == nil)
    #expect((sent.logFailed as? SystemError)?.description.contains("job-1/entries.jsonl") == true)
    #expect(try deliveries.log(runs[1]).map(\.index) == [0])
  }

  /// A place for the answer to an acceptance.
  private final class Answer: Sendable {
    private let answer = Mutex<Result<Void, any Error>?>(nil)

    var value: Result<Void, any Error>? { answer.withLock { $0 } }

    func set(_ value: Result<Void, any Error>) { answer.withLock { $0 = value } }
  }
}
