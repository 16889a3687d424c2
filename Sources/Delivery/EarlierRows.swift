import JobIndex
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
    try index.prepareNames()
    var page: [LedgerChange] = [.advance(run.runID, to: .running)]
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
    try ledger.commit(page)
    job.state = .running
    if try run.folder.status(of: "report.json") != nil { try History(folder: run.folder).putAside() }
  }

  private func log() throws(SystemError) -> OpenFile? {
    do throws(SystemError) {
      return try run.folder.open(file: Folder.name(of: run.folder.entriesLog))
    } catch  where error.cause == .missing {
      return nil
    }
  }

  /// The ledger's record of a row; nil when the row does not count.
  private func entry(of row: ReportRow) throws -> LedgerEntry? {
    guard row.state != .cancelled else { return nil }
    let name = row.variant.map { "\(row.name).\($0)" } ?? row.name
    guard let position = try index.position(named: name) else { return nil }
    let original = row.source.flatMap { source in
      source.file.map { Delivery(staged: "", target: $0, bytes: source.bytes, sha256: source.sha256) }
    }
    let result = row.output.map { output in
      Delivery(
        staged: "", target: output.file, bytes: output.bytes, sha256: output.sha256, origin: Provenance(row)?.text)
    }
    let files = [result, original].compactMap { $0 }
    guard row.state == .failed || result != nil, try files.allSatisfy(isThere) else { return nil }
    var entry = LedgerEntry(
      position: position, delivery: files.first, failure: row.ledgerFailure(name: name), row: row.json.text)
    entry.others = Array(files.dropFirst())
    return entry
  }

  private func isThere(_ file: Delivery) throws -> Bool {
    guard !file.target.split(separator: "/").contains(".."),
      let status = try folders.status(of: file.target, in: run.folder)
    else { return false }
    return status.kind == .file && status.size == file.bytes
  }
}
