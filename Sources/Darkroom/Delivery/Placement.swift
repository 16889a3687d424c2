import Glibc
import Ledger
import System

/// Puts staged files under their final names, and never over a file that is not ours.
struct Placement {
  let folder: JobFolder
  let staging: Staging
  let ledger: Ledger

  /// Moves a staged file to its final name, over nothing but what this job delivered earlier.
  /// - Parameter opened: The folder to which it goes, if that is open already.
  /// - Throws: `EntryFailure` with `name-conflict` when something else has the name; `SystemError`, `SQLiteError`.
  func place(_ delivery: Delivery, in opened: OpenFolder? = nil) throws {
    let target = try opened ?? folder.open(delivery.subfolder)
    let (staged, name) = (try staging.open(), Folder.name(of: delivery.target))
    if try staged.renameWithoutReplacing(delivery.staged, to: target, as: name) { return }
    guard let ours = try ledger.output(job: folder.name, target: delivery.target) else {
      throw EntryFailure.conflict(
        "\(delivery.target) exists, and this job has not delivered it; it was left as it is: move it away")
    }
    guard try target.holds(name, bytes: ours.bytes, sha256: ours.sha256) else {
      throw EntryFailure.conflict(
        "\(delivery.target) was changed since this job delivered it; it was left as it is: move it away")
    }
    try staged.rename(delivery.staged, to: target, as: name)
  }

  /// Completes a delivery that was interrupted when the program died.
  /// - Throws: As `place`.
  func recover(_ delivery: Delivery) throws {
    if try folder.holds(delivery.target, bytes: delivery.bytes, sha256: delivery.sha256) {
      return staging.remove(delivery.staged)
    }
    // Staging was synced before the intent was recorded: a staged file that is gone was renamed, and whoever was waiting
    // for it has taken it away, or replaced it.
    guard try staging.open().status(of: delivery.staged) != nil else {
      if try FileStatus.exists(folder.file(delivery.target)) {
        throw EntryFailure.conflict("\(delivery.target) was replaced by someone else")
      }
      return
    }
    do throws(SystemError) {
      _ = try folder.createDurably(delivery.subfolder)
    } catch {
      throw EntryFailure(creating: folder.file(delivery.subfolder), error)
    }
    try place(delivery)
  }
}

extension Delivery {
  /// The folder in which the target lies, relative to the job's.
  var subfolder: String { target.contains("/") ? Folder.parent(of: target) : "" }
}

extension EntryFailure {
  /// The failure of an entry whose folder cannot be made.
  init(creating folder: String, _ error: SystemError) {
    switch error.code {
    case ENOTDIR, EEXIST:
      self = .conflict("the folder \(folder) cannot be made: a file or a symbolic link has its name")
    case ELOOP: self = .conflict("the folder \(folder) cannot be made: a symbolic link has its name")
    default: self.init(error)
    }
  }
}
