import JobIndex
import JSON
import Ledger
import Model
import System

/// The rows in a job's `entries.jsonl` that processes with another ledger have left. The rows of a shard are taken as those of the
/// run that goes on, since its manifest never changes: what has ended is not done again when a machine is lost with its ledger.
package struct EarlierRows {
  package let run: RunContext
  package let ledger: Ledger
  package let index: JobIndex

  private let folders = ResultFolders()

  private static let pageSize = 512

  package init(run: RunContext, ledger: Ledger, index: JobIndex) {
    (self.run, self.ledger, self.index) = (run, ledger, index)
  }

  /// Records the rows in the ledger, and moves the report of an earlier run, which was cancelled, to `history`. A row is left out
  /// when it was cancelled, and when its picture is not there.
  /// - Parameter job: The run, which then counts as one that has begun, if there are rows.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func take(for job: inout LedgerJob) throws {
    guard let log = try log() else { return }
    try index.prepareLines()
    var page: [LedgerChange] = []
    var count = 0
    try ReportRow.each(of: log) { row in
      guard let entry = try entry(of: row) else { return }
      page.append(.finish(entry, run: run.runID, job: run.job))
      count += 1
      guard page.count >= Self.pageSize else { return }
      try ledger.commit(page)
      page = []
    }
    guard count > 0 else { return }
    // The last commit: after a kill before it they are taken once more.
    try ledger.commit(page + [.advance(run.runID, to: .running)])
    job.state = .running
    if try run.folder.status(of: "report.json") != nil { try History(folder: run.folder).putAside(exceptLog: true) }
  }

  /// Records what a report in the outbox that has the pictures knows of the results of this run's entries: those of an earlier
  /// folder of shards. They may then be reused and replaced.
  /// - Parameter shard: The folder of the shard.
  /// - Returns: Whether there are any.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func recall(in shard: String) throws -> Bool {
    guard let pictures = run.folder.pictures else { return false }
    let reports = try EarlierReports(of: run.job, in: pictures)
    guard !reports.isEmpty else { return false }
    var (page, hasAny): ([LedgerChange], Bool) = ([], false)
    func add(_ row: ReportRow) throws {
      page += try files(of: row).filter(isThere).map { .recall($0, job: run.job) }
      guard page.count >= Self.pageSize else { return }
      try ledger.commit(page)
      (page, hasAny) = ([], true)
    }
    let prepared = try Self.ifThere { () throws(SystemError) in
      try OpenFolder(shard).open(reading: EarlierRowsFile.name)
    }
    if let prepared, try EarlierRowsFile.isCurrent(prepared, reports) {
      try ReportRow.each(of: prepared, add)
    } else {
      try index.prepareNames()
      try reports.eachResult(of: index) { try add($1) }
    }
    try ledger.commit(page)
    return hasAny || !page.isEmpty
  }

  private func log() throws(SystemError) -> OpenFile? {
    try Self.ifThere { () throws(SystemError) in try run.folder.open(file: Folder.name(of: run.folder.entriesLog)) }
  }

  private static func ifThere<Value>(_ open: () throws(SystemError) -> Value?) throws(SystemError) -> Value? {
    do throws(SystemError) {
      return try open()
    } catch  where error.cause == .missing || error.cause == .occupied {
      return nil
    }
  }

  /// The ledger's record of a row; nil when the row does not count.
  private func entry(of row: ReportRow) throws -> LedgerEntry? {
    guard row.state != .cancelled else { return nil }
    guard let (position, name) = try index.row(ofLine: row.index, variant: row.variant, shown: row.name) else {
      return nil
    }
    let files = files(of: row)
    guard row.state == .failed || row.output != nil, try files.allSatisfy(isThere) else { return nil }
    var entry = LedgerEntry(
      position: position, delivery: files.first, failure: row.ledgerFailure(name: name), row: row.json.text)
    entry.others = Array(files.dropFirst())
    return entry
  }

  /// The result and the original that a row tells of.
  private func files(of row: ReportRow) -> [Delivery] {
    let original = row.source.flatMap { source in
      source.file.map { Delivery(staged: "", target: $0, bytes: source.bytes, sha256: source.sha256) }
    }
    let result = row.output.map { output in
      Delivery(
        staged: "", target: output.file, bytes: output.bytes, sha256: output.sha256, origin: Provenance(row)?.text)
    }
    return [result, original].compactMap { $0 }
  }

  private func isThere(_ file: Delivery) throws -> Bool {
    guard !file.target.fields("/").contains("..") else { return false }
    // Something else may be in the place of a folder.
    let status = try Self.ifThere { () throws(SystemError) in try folders.status(of: file.target, in: run.folder) }
    return status.map { $0.kind == .file && $0.size == file.bytes } ?? false
  }
}
