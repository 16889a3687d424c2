import Foundation
import Ledger
import Model
import System

/// What the last process has reported at its end, according to its status. Cron need not mail it again.
struct KnownTrouble {
  /// The locks because of which it ended with `--lock-wait`, and that are the same files still.
  private var locks: Set<ByteKey> = []

  /// The options that jobs waited for, by job.
  private var missingOptions: [ByteKey: [String]] = [:]

  init() {}

  init(_ folders: OwnedFolders) {
    guard let file = try? folders.hidden.open(reading: OutboxFolder.statusName),
      let written = try? file.status().identity.modified, let data = try? file.readAll(),
      let status = try? JSONDecoder().decode(Status.self, from: data)
    else { return }
    missingOptions = Dictionary(
      (status.waits ?? []).compactMap { wait in wait.missing_options.map { (ByteKey(wait.job), $0) } },
      uniquingKeysWith: { $1 })
    guard status.lock_wait_over == true else { return }
    locks = Set(
      status.pauses.compactMap(\.lock).filter { name in
        // The file of --lock-file, which may be relative to the current folder, is called as it was given.
        let isElsewhere = name.begins(with: "/") || name == folders.inbox.extraLock
        let lock = isElsewhere ? try? FileStatus(of: name) : try? folders.inbox.folder.status(of: name)
        return (lock ?? nil).map { $0.identity.changed < written } == true
      }.map(ByteKey.init))
  }

  /// Whether there is no other cause of the suspension.
  /// - Parameter pauses: Those that hold.
  func covers(_ pauses: [LedgerPause]) -> Bool {
    !pauses.isEmpty && pauses.allSatisfy { locks.contains(ByteKey($0.lock)) }
  }

  /// Whether the job waited for the same options.
  func covers(_ wait: Status.Wait) -> Bool { missingOptions[ByteKey(wait.job)] == wait.missing_options }
}
