import Synchronization
import System

/// The files `entries.jsonl` of live runs: a line for each row, as rows end.
final class EntriesLogs: Sendable {
  private let files = Mutex<[Int: OpenFile]>([:])

  /// Appends rows of one run, all or none.
  /// - Throws: `SystemError`.
  func append(_ rows: [DeliveryQueue.Committed]) throws(SystemError) {
    guard let run = rows.first?.record.run else { return }
    try Self.append(rows.map { $0.text + "\n" }.joined(), to: file(run))
  }

  /// Closes a run's file.
  func close(_ run: Int) { files.withLock { $0[run] = nil } }

  private func file(_ run: RunContext) throws(SystemError) -> OpenFile {
    if let open = files.withLock({ $0[run.number] }) { return open }
    let opened = try run.folder.open().open(appending: Folder.name(of: run.folder.entriesLog))
    files.withLock { $0[run.number] = opened }
    return opened
  }

  private static func append(_ lines: String, to file: OpenFile) throws(SystemError) {
    let size = try file.status().size
    do {
      try file.write(lines)
    } catch {
      try? file.truncate(to: size)
      throw error
    }
  }
}
