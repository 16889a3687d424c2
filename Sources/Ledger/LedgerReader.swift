import Database
import Glibc

/// Reads a ledger that no instance has open, without changing it or creating files beside it: it migrates nothing, and leaves
/// a dead process's unfinished change to the next start.
package enum LedgerReader {
  package enum Answer: Equatable {
    case jobs([LedgerJob])
    /// Cannot be read without changing the file, or while another process changes it.
    case unknown(why: String)
  }

  /// The jobs that have not ended, in order of acceptance.
  /// - Throws: `LedgerError`, `SQLiteError`.
  package static func liveJobs(path: String) throws -> Answer {
    let database = try Database(reading: path)
    if let version = versionOfWriteAheadLog(path) {
      // To read it, SQLite would create files beside it.
      try LedgerSchema.rejectNewer(version, path: path)
      return .unknown(why: "\(path) is in write-ahead logging mode")
    }
    do {
      try LedgerSchema.rejectNewer(database)
      // The process that created it died before its first change.
      guard try database.first("SELECT 1 FROM sqlite_schema LIMIT 1", row: { _ in true }) != nil else {
        return .jobs([])
      }
      return .jobs(try liveJobs(database))
    } catch let error as LedgerError where error.isDamageOfLedger {
      return .unknown(why: error.description)
    } catch let error as SQLiteError {
      if error.isDatabaseMalformed {
        return .unknown(why: LedgerError.damaged(path: path, why: "\(error)").description)
      }
      if error.isForWantOfRecovery {
        return .unknown(why: "a process died while it changed \(path), and the next start undoes that change")
      }
      guard error.isBusy else { throw error }
      return .unknown(why: "another process has \(path) open")
    }
  }

  /// Rows have digests since version 5.
  private static func liveJobs(_ database: Database) throws -> [LedgerJob] {
    if try Migrations.version(of: database) >= LedgerSchema.firstWithDigests {
      return try database.intactRecords(of: .jobs, LedgerJob.live)
    }
    return try database.records(
      "SELECT run_id, name, state, details, outcome, NULL FROM jobs " + LedgerJob.live)
  }

  /// The number of deferred entries of each run, and when the first is tried again, in milliseconds since 1970. A ledger of an
  /// earlier version has none.
  /// - Throws: `SQLiteError`, also while another process has the ledger open.
  package static func deferred(path: String) throws -> [String: (count: Int, due: Int)] {
    let database = try Database(reading: path)
    let table = "SELECT 1 FROM sqlite_schema WHERE name = 'deferred'"
    guard try database.first(table, row: { _ in true }) != nil else { return [:] }
    var deferred: [String: (count: Int, due: Int)] = [:]
    try database.run(
      "SELECT run_id, count(*), min(due_ms) FROM deferred WHERE \(LedgerDeferral.isOpen) GROUP BY run_id"
    ) { deferred[$0.text(0) ?? ""] = ($0.integer(1), $0.integer(2)) }
    return deferred
  }

  /// The number of rows of each run that has not ended, by state.
  /// - Throws: `SQLiteError`, also while another process has the ledger open, and when a row is damaged.
  package static func rows(path: String) throws -> [String: [String: Int]] {
    let database = try Database(reading: path)
    var rows: [String: [String: Int]] = [:]
    try database.run(
      "SELECT run_id, json_extract(row, '$.state'), count(*) FROM entries WHERE ended = 1 GROUP BY 1, 2"
    ) { rows[$0.text(0) ?? "", default: [:]][$0.text(1) ?? ""] = $0.integer(2) }
    return rows
  }

  /// The `user_version` in the header of a file in write-ahead logging mode
  /// (https://www.sqlite.org/fileformat2.html#the_database_header); nil for a file in another mode.
  private static func versionOfWriteAheadLog(_ path: String) -> Int? {
    var descriptor: Int32
    repeat { descriptor = open(path, O_RDONLY | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var header = [UInt8](repeating: 0, count: 100)
    var read: Int
    repeat { read = pread(descriptor, &header, header.count, 0) } while read < 0 && errno == EINTR
    guard read == header.count, header[18...19].contains(2) else { return nil }
    return Int(Int32(bitPattern: header[60..<64].reduce(0) { $0 << 8 | UInt32($1) }))
  }
}
