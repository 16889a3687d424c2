import Foundation
import Ledger
import Model
import System

/// The locks because of which the last process ended with `--lock-wait`, and that are the same files still. Cron need not mail
/// them again.
struct KnownLocks {
  private let names: Set<String>

  init(_ folders: OwnedFolders) {
    guard let file = try? folders.hidden.open(reading: OutboxFolder.statusName),
      let written = try? file.status().identity.modified, let data = try? file.readAll(),
      let status = try? JSONDecoder().decode(Status.self, from: data), status.lock_wait_over == true
    else {
      names = []
      return
    }
    names = Set(
      status.pauses.compactMap(\.lock).filter { name in
        let isElsewhere = name.hasPrefix("/")
        let lock = isElsewhere ? try? FileStatus(of: name) : try? folders.inbox.folder.status(of: name)
        return (lock ?? nil).map { $0.identity.changed < written } == true
      })
  }

  /// Whether there is no other cause.
  /// - Parameter pauses: Those that hold.
  func cover(_ pauses: [LedgerPause]) -> Bool { !pauses.isEmpty && pauses.allSatisfy { names.contains($0.lock) } }
}
