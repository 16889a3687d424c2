import Ledger
import Model
import System

/// Writes a run's `entries.jsonl` anew, with the rows that the ledger has.
struct EntriesLogFile {
  let run: RunContext
  let ledger: Ledger

  private var name: String { Folder.name(of: run.folder.entriesLog) }

  /// Whether the file has its name in the job's folder.
  /// - Parameter file: The file that the run writes to; nil when it is closed, and whatever has the name is taken for it.
  /// - Throws: `SystemError`.
  func isInPlace(_ file: OpenFile?) throws(SystemError) -> Bool {
    do throws(SystemError) {
      guard let found = try run.folder.open().status(of: name) else { return false }
      guard let file else { return true }
      return try file.status().identity == found.identity
    } catch  where error.cause == .missing {
      return false
    }
  }

  /// Replaces the run's file, whose last lines may be missing or incomplete. A file of somebody else's is moved to `history`.
  /// - Parameters:
  ///   - isSynced: Whether the file and its name are synced.
  ///   - body: Called with the rows, a page at a time.
  /// - Returns: The new path of somebody else's file; nil without one.
  /// - Throws: `SystemError`, `SQLiteError`; what `body` throws.
  func write(isSynced: Bool, _ body: ([LedgerEntry]) throws -> Void = { _ in }) throws -> String? {
    let log = try run.staging.create(run.staging.document(name))
    let job = try run.folder.createDurably()
    let first = try firstLine(in: job)
    var isOwn = first?.isEmpty != false
    try ledger.eachEndedPage(run: run.runID) { page in
      isOwn = isOwn || page.contains { $0.row.utf8.elementsEqual(first ?? []) }
      try log.write(page.map { $0.row + "\n" }.joined())
      try body(page)
    }
    if isSynced { try log.sync() }
    let aside = "history/" + History.othersPrefix + RunID.make()
    let moved = isOwn ? nil : try History(folder: run.folder).move(name, of: job, to: aside)
    try run.staging.open().rename(Folder.name(of: log.path), to: job, as: name)
    if isSynced { try job.sync() }
    return moved
  }

  /// The first line of what has the name: a row, if it is the run's.
  /// - Returns: nil when nothing has the name; empty for what a crash has left of a row, which may have no end, or the zeros of blocks
  ///   that were not written before the power failed.
  private func firstLine(in job: OpenFolder) throws(SystemError) -> [UInt8]? {
    guard let line = try firstBytes(in: job) else { return nil }
    return line.contains(0) ? [] : line
  }

  private func firstBytes(in job: OpenFolder) throws(SystemError) -> [UInt8]? {
    guard try job.status(of: name)?.kind == .file else { return nil }
    var line: [UInt8] = []
    do throws(SystemError) {
      let file = try job.open(reading: name)
      while line.count < Self.longestLine {
        let bytes = try file.bytes(1 << 16, at: line.count)
        if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) { return line + bytes[..<end] }
        if bytes.isEmpty { return line.starts(with: Self.rowBegins) ? [] : line }
        line += bytes
      }
    } catch  where error.cause == .permission {
      return Self.unreadable
    }
    return line
  }

  private static let longestLine = 16 << 20
  private static let unreadable = Array("?".utf8)
  private static let rowBegins = Array(#"{"index":"#.utf8)
}
