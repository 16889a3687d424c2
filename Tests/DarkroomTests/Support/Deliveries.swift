import Foundation
import Ledger
import Synchronization
import System
import TestSupport

@testable import Delivery
@testable import Inbox
@testable import JobIndex
@testable import Model

/// A delivery queue with a real outbox, state and ledger, and what it has sent.
final class Deliveries: Sendable {
  let root: TemporaryFolder
  let state: StateFolder
  let ledger: Ledger
  let queue: DeliveryQueue
  private let mailbox: Mailbox<DeliveryQueue.Message>
  private let gate: Gate

  /// Where the queue's thread waits while it is held.
  private final class Gate: Sendable {
    let isHeld = Mutex(false)
    let opened = DispatchSemaphore(value: 0)

    func pass() { if isHeld.withLock({ $0 }) { opened.wait() } }
  }

  /// What was sent until as many records were committed or rejected, and as many runs reported.
  struct Sent {
    var committed: [DeliveryQueue.Committed] = []
    var rejected: [PhotoRecord] = []
    var held = 0
    var obstacles: [Int: DeliveryQueue.Obstacle] = [:]
    var heldMessages = 0
    var unstaged: [Int: any Error] = [:]
    var reported: [Int: Result<ReportDelivery.Outcome, any Error>] = [:]
    var noSpace = 0
    var failing = 0
    var broken: (any Error)?
    var logFailed: (any Error)?

    var rows: [ReportRow] { committed.map(\.row) }
  }

  /// - Parameters:
  ///   - parent: Where all of its folders are.
  ///   - prepare: Called when the folders are there, before the ledger is opened.
  init(in parent: String = TemporaryFolder.parent, prepare: (TemporaryFolder) throws -> Void = { _ in }) throws {
    root = try TemporaryFolder(in: parent)
    for name in ["out", "staging", "state", "inbox"] { try root.makeFolder(name) }
    try prepare(root)
    try root.makeFolder("state/jobs")
    let (mailbox, gate) = (try Mailbox<DeliveryQueue.Message>(), Gate())
    (self.mailbox, self.gate) = (mailbox, gate)
    state = StateFolder(path: root.file("state"))
    ledger = try Ledger(path: state.ledger)
    queue = DeliveryQueue(
      outbox: OutboxFolder(path: root.file("out")), staging: root.file("staging"), state: state, ledger: ledger,
      resultsCommitted: {}
    ) { message in
      mailbox.post(message)
      gate.pass()
    }
  }

  // MARK: Runs

  /// A run that is in the ledger, with a folder and a snapshot.
  func run(_ number: Int, job: String? = nil) throws -> RunContext {
    let run = context(number, job: job)
    try root.makeFolder("out/" + run.job)
    try root.write("snapshot", as: "state/jobs/\(run.runID).txt")
    try ledger.commit([
      .accept(LedgerJob(runID: run.runID, name: run.job, details: "")), .advance(run.runID, to: .running),
    ])
    return run
  }

  private func context(_ number: Int, job: String?) -> RunContext {
    let (runID, job) = ("run-000\(number)", job ?? "job-\(number)")
    return RunContext(
      number: number, runID: runID, folder: JobFolder(path: root.file("out/" + job), name: job),
      staging: Staging(folder: root.file("staging"), runID: runID))
  }

  /// A record whose result lies in staging.
  func filtered(_ position: Int, of run: RunContext, _ text: String = "picture") throws -> PhotoRecord {
    let record = PhotoRecord(try .sample(position), run: run)
    record.downloaded(.sample, taking: .zero)
    let name = run.staging.file(.result, of: position)
    let file = try run.staging.create(name)
    try file.write(text)
    try record.filtered(
      .sample, from: .sample,
      delivering: [
        Artifact(
          .result, file, staged: name, target: JobFolder.path(of: .result, record.entry.name), bytes: text.utf8.count,
          sha256: MessageDigest.hexDigest(of: text))
      ], taking: .zero)
    return record
  }

  /// A record that has failed.
  func failed(_ position: Int, of run: RunContext) throws -> PhotoRecord {
    let record = PhotoRecord(try .sample(position), run: run)
    record.fail(EntryFailure(code: .download(.dns), message: "unknown"))
    return record
  }

  /// The places of the rows that a run has in the ledger.
  func ended(_ run: RunContext) throws -> [Int] {
    var places: [Int] = []
    try ledger.eachEndedPage(run: run.runID) { places += $0.map(\.position) }
    return places
  }

  /// The documents of a run, written to staging.
  func report(_ run: RunContext, inboxPath: String? = nil) throws -> ReportDelivery {
    let identity = try inboxPath.map { try FileStatus(of: $0).identity.text } ?? ""
    let manifest = try JobManifest.sample(file: run.job + ".txt", inboxPath: inboxPath, identity: identity)
    var tally = JobTally()
    try ledger.eachEndedPage(run: run.runID) { page in
      for entry in page { tally.add(try ReportRow(parsing: entry.row), at: entry.position) }
    }
    return try ReportFile(
      run: run, manifest: manifest, outcome: JobOutcome(tally, Transfers(), at: 5000), pauses: [],
      index: try JobIndex(creating: .memory), ledger: ledger, state: state
    ).write()
  }

  // MARK: The queue's thread

  /// Has the queue's thread wait, so that all that is submitted until `release` is one batch.
  func hold() throws {
    // What was sent before does not wait.
    queue.drain()
    gate.isHeld.withLock { $0 = true }
    queue.deliver(try failed(0, of: run(9)), isUrgent: true)
    _ = wait(records: 1)
  }

  func release() {
    gate.isHeld.withLock { $0 = false }
    gate.opened.signal()
  }

  /// Waits until so much was sent.
  func wait(
    records: Int = 0, reports: Int = 0, noSpace: Int = 0, failing: Int = 0, held: Int = 0,
    isBroken: Bool = false
  ) -> Sent {
    var sent = Sent()
    while sent.committed.count + sent.rejected.count < records
      || sent.reported.count + sent.unstaged.count < reports || sent.noSpace < noSpace || sent.failing < failing
      || sent.heldMessages < held || isBroken && sent.broken == nil
    {
      mailbox.wait()
      for message in mailbox.collect() {
        switch message {
        case .committed(let committed): sent.committed += committed
        case .rejected(let records, _): sent.rejected += records
        case .held(let count, let obstacles):
          (sent.held, sent.obstacles) = (count, obstacles)
          sent.heldMessages += 1
        case .failing: sent.failing += 1
        case .noSpace: sent.noSpace += 1
        case .reported(let run, let result): sent.reported[run] = result
        case .unstaged(let run, let error): sent.unstaged[run] = error
        case .logFailed(_, let error): sent.logFailed = error
        case .broken(let error): sent.broken = error
        }
      }
    }
    return sent
  }

  // MARK: What is there

  func text(_ path: String) -> String? { root.text("out/" + path) }

  var staged: [String] { get throws { try root.names(in: "staging") } }

  /// The names in `jobs`, but those of the run that holds the queue.
  var jobs: [String] { get throws { try root.names(in: "state/jobs").filter { !$0.hasPrefix("run-0009") } } }

  /// The rows in the log of a run's entries.
  func log(_ run: RunContext) throws -> [ReportRow] {
    try (root.text("out/\(run.job)/entries.jsonl") ?? "").split(separator: "\n").map {
      try ReportRow(parsing: String($0))
    }
  }
}

/// Counts commits of the ledger: in each the file is written once, after its journal and before the journal is cut off, and
/// the kernel tells the same change of the same file that comes twice in a row once.
struct CommitCounter {
  private let watch: FolderWatch

  init(_ state: StateFolder) { watch = FolderWatch(folder: state.path) }

  /// How many commits there were since the last call.
  func count() -> Int { watch.notices().count { $0 == .begun(FileName("ledger.sqlite")) } }
}

/// A small disk that can be filled up.
struct FullDisk {
  private let disk: SmallDisk
  private let filler: String

  /// - Parameter path: A folder in `folder`.
  init(over path: String, in folder: TemporaryFolder, kilobytes: Int) throws {
    disk = try SmallDisk(over: path, in: folder, kilobytes: kilobytes)
    filler = path + "/filler"
  }

  /// Leaves so many pages of 4 KiB free.
  func fill(leaving pages: Int = 0) throws {
    try? Folder.removeFile(filler)
    let file = try OpenFile(creating: filler)
    let page = String(repeating: "x", count: 4096)
    do throws(SystemError) {
      while true { try file.write(page) }
    } catch {
      guard error.isOutOfSpace else { throw error }
    }
    try file.truncate(to: max(0, try file.status().size / 4096 - pages) * 4096)
  }

  /// Frees all pages, also if another test is about to start a process, which has open what was open when it was forked.
  func empty() throws {
    guard truncate(filler, 0) == 0 else { throw SystemError("truncate", filler) }
    try Folder.removeFile(filler)
  }

  /// Waits until so many pages are free: those of a file that was removed are once no process has it open.
  func waitForRoom(pages: Int) throws {
    while try Folder.freeSpace(Folder.parent(of: filler)) < pages * 4096 { usleep(1000) }
  }
}
