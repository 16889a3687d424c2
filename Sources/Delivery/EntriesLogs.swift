import Model
import Synchronization
import System

/// The files `entries.jsonl` of live runs, with a line for each row in the order in which rows end.
final class EntriesLogs: Sendable {
  private struct Log {
    var file: OpenFile?
    /// Why the backlog could not be written; nil when there is none.
    var error: SystemError?
    /// The job's folder.
    let folder: JobFolder
    let backlog = Backlog()
  }

  /// Lines that could not be written, in order. Held while the file is written: the rows of a cancelled run are written on another
  /// thread than those that were delivered before.
  private final class Backlog: Sendable {
    let lines = Mutex("")
  }

  private let logs = Mutex<[Int: Log]>([:])

  /// Whether lines are synced as they are written.
  private let isSynced: Bool

  init(isSynced: Bool) { self.isSynced = isSynced }

  /// Appends rows of one run after its backlog, all or none. When the machine fails, they are added to the backlog for
  /// the next call or for `flush`.
  /// - Throws: `SystemError`.
  func append(_ rows: [DeliveryQueue.Committed]) throws(SystemError) {
    guard let run = rows.first?.record.run else { return }
    let log = logs.withLock { logs in
      let log = logs[run.number] ?? Log(folder: run.folder)
      logs[run.number] = log
      return log
    }
    try log.backlog.lines.withLock { backlog throws(SystemError) in
      let log = logs.withLock { $0[run.number] } ?? Log(folder: run.folder)
      try append(Self.lines(rows), after: &backlog, to: log, run.number, isSynced: isSynced)
    }
  }

  /// Writes the backlog of a run, and syncs the file. A log without a backlog is synced when the report is written.
  /// - Throws: `SystemError`. The lines then stay in the backlog.
  func flush(_ run: Int) throws(SystemError) {
    guard let waiting = logs.withLock({ $0[run]?.backlog }) else { return }
    try waiting.lines.withLock { backlog throws(SystemError) in
      guard !backlog.isEmpty, let log = logs.withLock({ $0[run] }) else { return }
      try append("", after: &backlog, to: log, run, isSynced: true)
    }
  }

  /// Adds rows of one run, for which there was no space, to its backlog. They are written before its report.
  func keep(_ rows: [DeliveryQueue.Committed], _ error: SystemError) {
    guard let run = rows.first?.record.run.number, let waiting = logs.withLock({ $0[run]?.backlog }) else { return }
    waiting.lines.withLock { backlog in
      backlog += Self.lines(rows)
      logs.withLock { $0[run]?.error = error }
    }
  }

  private static func lines(_ rows: [DeliveryQueue.Committed]) -> String { rows.map { $0.text + "\n" }.joined() }

  /// The runs with a backlog, and the errors.
  var waiting: [Int: SystemError] { logs.withLock { $0.compactMapValues(\.error) } }

  /// Closes a run's file.
  func close(_ run: Int) { logs.withLock { $0[run] = nil } }

  /// A run's file; nil when it is closed.
  func file(of run: Int) -> OpenFile? { logs.withLock { $0[run]?.file } }

  /// Closes a run's file until the next line.
  func rest(_ run: Int) { logs.withLock { $0[run]?.file = nil } }

  /// Writes the backlog and more lines. They become the backlog when the machine fails.
  private func append(
    _ lines: String, after backlog: inout String, to log: Log, _ run: Int, isSynced: Bool
  ) throws(SystemError) {
    do throws(SystemError) {
      let file = try Self.open(log)
      try Self.append(backlog.isEmpty ? lines : backlog + lines, to: file, isSynced: isSynced)
      backlog = ""
      logs.withLock { logs in
        logs[run]?.file = file
        logs[run]?.error = nil
      }
    } catch {
      let isKept = error.cause.isOfMachine && error.cause != .space
      // In place: there may be very many.
      if isKept { backlog += lines }
      logs.withLock { logs in
        logs[run]?.file = nil
        if isKept { logs[run]?.error = error }
      }
      throw error
    }
  }

  private static func open(_ log: Log) throws(SystemError) -> OpenFile {
    if let file = log.file { return file }
    return try log.folder.open().open(appending: Folder.name(of: log.folder.entriesLog))
  }

  /// Appends all or nothing: lines that could not be synced are written again later.
  private static func append(_ lines: String, to file: OpenFile, isSynced: Bool) throws(SystemError) {
    let size = try file.status().size
    do {
      try file.write(lines)
      if isSynced { try file.sync() }
    } catch {
      try? file.truncate(to: size)
      throw error
    }
  }
}
