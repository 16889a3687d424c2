import Database
import Dispatch

/// The durable record of finished work: when `commit` returns, the changes survive a power cut.
///
/// It belongs to one process (SQLite's exclusive locking). The database belongs to a dedicated queue, on which calls from
/// other threads run one after another; they wait for a commit under way, so only callers that may wait for the disk call it.
/// Methods throw `SQLiteError`, or `LedgerError.damaged` for a row that does not match its digest, and have changed nothing
/// then.
package final class Ledger: @unchecked Sendable {  // what changes is used on the queue only
  private let path: String

  /// nil after the file could not be read or written: it is reopened, because a sync that has failed is not tried again on the
  /// same descriptor.
  private var database: Database?

  /// The sequence number of the last accepted job: looking it up in the file takes longer with more jobs.
  private var lastSequence: Int
  private let queue = DispatchQueue(label: "Ledger")

  /// Opens the ledger, creates it when missing, and migrates an older one to this version.
  /// - Throws: `LedgerError`, `SQLiteError`.
  package init(path: String) throws {
    self.path = path
    let database = try Self.open(path, isCreated: true)
    self.database = database
    lastSequence = try database.first("SELECT coalesce(max(sequence), 0) FROM jobs") { $0.integer(0) } ?? 0
    guard (0..<1 << 48).contains(lastSequence) else {
      throw LedgerError.damaged(path: path, why: "a job is number \(lastSequence)")
    }
  }

  private static func open(_ path: String, isCreated: Bool) throws -> Database {
    let database = try Database(
      path: path, durability: .powerCut, isCreated: isCreated, examine: LedgerSchema.rejectNewer)
    let isRewritten = try makeShrinkable(database)
    // Reading takes only a shared lock; this takes the exclusive one, which is kept until the ledger is closed.
    try database.execute("BEGIN EXCLUSIVE; COMMIT")
    try LedgerSchema.migrations.apply(to: database)
    // Without space for it, the file only stays large.
    if isCreated, isRewritten { try? database.execute("VACUUM") }
    return database
  }

  /// The largest file, in pages, that is rewritten when its form has to change.
  private static let rewrittenPages = 16 << 10

  /// Allows `release` to return free pages to the file system. In a non-empty file this takes effect when the file is
  /// rewritten.
  /// - Returns: Whether the file must be rewritten.
  private static func makeShrinkable(_ database: Database) throws -> Bool {
    guard try database.first("PRAGMA auto_vacuum", row: { $0.integer(0) }) == 0 else { return false }
    try database.execute("PRAGMA auto_vacuum = INCREMENTAL")
    return try 1...rewrittenPages ~= database.first("PRAGMA page_count", row: { $0.integer(0) }) ?? 0
  }

  func perform<T>(_ body: (Database) throws -> T) throws -> T {
    try queue.sync {
      do {
        let database = try database ?? Self.open(path, isCreated: false)
        self.database = database
        return try body(database)
      } catch let error as SQLiteError where error.isFailureOfFile {
        database = nil
        throw error
      }
    }
  }

  /// Makes changes, in order, in one commit.
  package func commit(_ changes: [LedgerChange]) throws {
    guard !changes.isEmpty else { return }
    try perform { database in
      try database.transaction { for change in changes { try change.apply(to: database, lastSequence: &lastSequence) } }
    }
  }

  // MARK: Jobs

  /// The jobs that have not ended, in order of acceptance.
  package func liveJobs() throws -> [LedgerJob] { try perform { try $0.intactRecords(of: .jobs, LedgerJob.live) } }

  package func hasJob(_ runID: String) throws -> Bool {
    try perform { database in
      try database.first("SELECT 1 FROM jobs WHERE run_id = ?", [.text(runID)]) { _ in true } ?? false
    }
  }

  /// The runs of the same job that were accepted after a run, in order.
  package func laterRuns(than runID: String, job name: String) throws -> [LedgerJob] {
    let clause = "WHERE name = ?1 AND sequence > (SELECT sequence FROM jobs WHERE run_id = ?2) ORDER BY sequence"
    return try perform { try $0.intactRecords(of: .jobs, clause, [.text(name), .text(runID)]) }
  }

  /// The last run of a job that ended; nil without one.
  package func lastEnded(job name: String) throws -> LedgerJob? {
    let clause = "WHERE name = ? AND state = 'ended' ORDER BY sequence DESC LIMIT 1"
    let jobs: [LedgerJob] = try perform { try $0.intactRecords(of: .jobs, clause, [.text(name)]) }
    return jobs.first
  }

  /// The name that sorts last, of the runs that are in the ledger; nil when there are none.
  package func newestRun() throws -> String? {
    let query =
      "SELECT max(run_id) FROM (SELECT max(run_id) AS run_id FROM jobs UNION SELECT max(run_id) FROM last_runs)"
    return try perform { try $0.first(query) { $0.text(0) } ?? nil }
  }

  /// The names of the runs of a job that are in the ledger, ended or not.
  package func runs(ofJob name: String) throws -> [String] {
    let query = "SELECT run_id FROM jobs WHERE name = ?1 UNION SELECT run_id FROM last_runs WHERE job = ?1"
    return try perform { try $0.all(query, [.text(name)]) { $0.text(0) ?? "" } }
  }

  /// The remembered runs that have ended and were accepted last, the last one first.
  package func ended(limit: Int) throws -> [LedgerJob] {
    let clause = "WHERE state = 'ended' ORDER BY sequence DESC LIMIT ?"
    return try perform { try $0.intactRecords(of: .jobs, clause, [.integer(limit)]) }
  }

  // MARK: Entries

  /// The entries whose files may or may not have their final names yet.
  package func intended(run runID: String) throws -> [LedgerEntry] {
    try entries("run_id = ? AND ended = 0 ORDER BY position", [.text(runID)])
  }

  /// Calls `body` with the entries that have ended, in the manifest's order, a page at a time. Others can use the ledger in
  /// between.
  package func eachEndedPage(run runID: String, _ body: ([LedgerEntry]) throws -> Void) throws {
    var page = try ended(run: runID, after: -1)
    while let last = page.last {
      try body(page)
      page = page.count < Self.pageSize ? [] : try ended(run: runID, after: last.position)
    }
  }

  private static let pageSize = 512

  private func ended(run runID: String, after position: Int) throws -> [LedgerEntry] {
    try entries(
      "run_id = ? AND ended = 1 AND position > ? ORDER BY position LIMIT \(Self.pageSize)",
      [.text(runID), .integer(position)])
  }

  private func entries(_ clause: String, _ values: [SQLiteValue]) throws -> [LedgerEntry] {
    try perform { try $0.intactRecords(of: .entries, "WHERE " + clause, values) }
  }

  // MARK: Deferrals

  /// Calls `body` with the deferrals of entries without another record, in the manifest's order, a page at a time. Others can use
  /// the ledger in between.
  package func eachDeferralPage(run runID: String, _ body: ([LedgerDeferral]) throws -> Void) throws {
    var page = try deferrals(run: runID, after: -1)
    while let last = page.last {
      try body(page)
      page = page.count < Self.pageSize ? [] : try deferrals(run: runID, after: last.position)
    }
  }

  private func deferrals(run runID: String, after position: Int) throws -> [LedgerDeferral] {
    let clause = """
      WHERE run_id = ? AND position > ? AND \(LedgerDeferral.isOpen) ORDER BY position LIMIT \(Self.pageSize)
      """
    return try perform { try $0.intactRecords(of: .deferred, clause, [.text(runID), .integer(position)]) }
  }

  // MARK: Outputs

  /// The file that a job last delivered at a path; nil when it never did.
  package func output(job name: String, target: String) throws -> LedgerOutput? {
    let values = [SQLiteValue.text(name), .text(target)]
    let outputs: [LedgerOutput] = try perform {
      try $0.intactRecords(of: .outputs, "WHERE job = ? AND target = ?", values)
    }
    return outputs.first
  }

  /// Whether a job has delivered anything in any of its runs.
  package func hasOutputs(job name: String) throws -> Bool {
    try perform { database in
      try database.first("SELECT 1 FROM outputs WHERE job = ? LIMIT 1", [.text(name)]) { _ in true } ?? false
    }
  }

  /// Calls `body` with the files that a job has delivered in any run, a page at a time. Others can use the ledger in between.
  package func eachOutputPage(job name: String, _ body: ([LedgerOutput]) throws -> Void) throws {
    var page = try outputs(job: name, after: "")
    while let last = page.last {
      try body(page)
      page = page.count < Self.pageSize ? [] : try outputs(job: name, after: last.target)
    }
  }

  private func outputs(job name: String, after target: String) throws -> [LedgerOutput] {
    let clause = "WHERE job = ? AND target > ? ORDER BY target LIMIT \(Self.pageSize)"
    return try perform { try $0.intactRecords(of: .outputs, clause, [.text(name), .text(target)]) }
  }

  // MARK: Failures

  /// The run with which a job's next one is compared; nil without one.
  package func lastRun(job name: String) throws -> String? {
    try perform { database in
      let query = LedgerTable.lastRuns.select(["run_id"], "WHERE job = ?")
      return try database.first(query, [.text(name)]) { row in
        try database.checkIntact(row, .lastRuns, ["run_id"])
        return row.text(0) ?? ""
      }
    }
  }

  /// Whether anything failed in a run that is its job's last.
  package func hasFailures(run runID: String) throws -> Bool {
    try perform { database in
      try database.first("SELECT 1 FROM failures WHERE run_id = ? LIMIT 1", [.text(runID)]) { _ in true } ?? false
    }
  }

  /// The failure of the row with an output's name in a run; nil when it did not fail.
  package func failure(_ name: String, run runID: String) throws -> LedgerFailure? {
    let values = [SQLiteValue.text(runID), .text(name)]
    let found: [LedgerFailure] = try perform {
      try $0.intactRecords(of: .failures, "WHERE run_id = ? AND name = ?", values)
    }
    return found.first
  }

  /// Calls `body` with the failures of a run, a page at a time. Others can use the ledger in between.
  package func eachFailurePage(run runID: String, _ body: ([LedgerFailure]) throws -> Void) throws {
    var page = try failures(run: runID, after: "")
    while let last = page.last {
      try body(page)
      page = page.count < Self.pageSize ? [] : try failures(run: runID, after: last.name)
    }
  }

  private func failures(run runID: String, after name: String) throws -> [LedgerFailure] {
    let clause = "WHERE run_id = ? AND name > ? ORDER BY name LIMIT \(Self.pageSize)"
    return try perform { try $0.intactRecords(of: .failures, clause, [.text(runID), .text(name)]) }
  }

  // MARK: Pauses

  /// The pauses of a run, the oldest first.
  package func pauses(run runID: String) throws -> [LedgerPause] {
    try perform { try $0.intactRecords(of: .pauses, "WHERE run_id = ? ORDER BY began_ms, lock", [.text(runID)]) }
  }
}
