import Glibc
import Ledger
import System

/// Puts staged files under their final names, and never over a file that is not ours.
struct Placement {
  let folder: JobFolder
  let staging: Staging
  let ledger: Ledger

  /// Moves a staged file to its final name, over nothing but what this job delivered earlier.
  /// - Throws: `EntryFailure` with `name-conflict` when something else has the name; `SystemError`, `SQLiteError`.
  func place(_ delivery: Delivery) throws {
    let target = folder.file(delivery.target)
    let staged = staging.path(delivery.staged)
    if try Folder.renameWithoutReplacing(staged, to: target) { return }
    guard let ours = try ledger.output(job: folder.name, target: delivery.target) else {
      throw EntryFailure.conflict(
        "\(delivery.target) exists, and this job has not delivered it; it was left as it is: move it away")
    }
    guard try OpenFile.holds(target, bytes: ours.bytes, sha256: ours.sha256) else {
      throw EntryFailure.conflict(
        "\(delivery.target) was changed since this job delivered it; it was left as it is: move it away")
    }
    try Folder.rename(staged, to: target)
  }

  /// Completes a delivery that was interrupted when the program died.
  /// - Throws: As `place`.
  func recover(_ delivery: Delivery) throws {
    let target = folder.file(delivery.target)
    if try OpenFile.holds(target, bytes: delivery.bytes, sha256: delivery.sha256) {
      return staging.remove(delivery.staged)
    }
    // Staging was synced before the intent was recorded: a staged file that is gone was renamed, and whoever was waiting
    // for it has taken it away, or replaced it.
    guard try FileStatus.exists(staging.path(delivery.staged)) else {
      if try FileStatus.exists(target) {
        throw EntryFailure.conflict("\(delivery.target) was replaced by someone else")
      }
      return
    }
    try Folder.createDurably(Folder.parent(of: target))
    try place(delivery)
  }
}
