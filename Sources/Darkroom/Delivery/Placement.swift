import Glibc
import Ledger
import System

/// Puts staged files under their final names, and never over a file that is not ours.
struct Placement {
  let folder: JobFolder
  let staging: Staging
  let ledger: Ledger

  /// Moves a staged file to its final name, over nothing but what this job delivered earlier. A file of our user that has
  /// exactly the bytes already is taken for it.
  /// - Parameter opened: The folder to which it goes, if that is open already.
  /// - Throws: `EntryFailure` with `name-conflict` when something else has the name; `SystemError`, `SQLiteError`.
  func place(_ delivery: Delivery, in opened: OpenFolder? = nil) throws {
    let target = try opened ?? folder.open(delivery.subfolder)
    let (staged, name) = (try staging.open(), Folder.name(of: delivery.target))
    if try staged.renameWithoutReplacing(delivery.staged, to: target, as: name) { return }
    let ours = try ledger.output(job: folder.name, target: delivery.target)
    if let ours, try target.holds(name, bytes: ours.bytes, sha256: ours.sha256) {
      return try staged.rename(delivery.staged, to: target, as: name)
    }
    if try Self.adopt(name, in: target, as: delivery) { return staging.remove(delivery.staged) }
    throw EntryFailure.conflict(
      ours == nil
        ? "\(delivery.target) exists, and this job has not delivered it; it was left as it is: move it away"
        : "\(delivery.target) was changed since this job delivered it; it was left as it is: move it away")
  }

  /// Brings a file that is equal to the one to be delivered, and our user's, to the disk.
  /// - Returns: Whether it is equal.
  private static func adopt(_ name: String, in target: OpenFolder, as delivery: Delivery) throws -> Bool {
    guard let status = try? target.status(of: name), status.kind == .file, status.owner == geteuid(),
      try target.holds(name, bytes: delivery.bytes, sha256: delivery.sha256)
    else { return false }
    try target.open(reading: name).sync()
    return true
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
      // Where the file system is not mounted everything is missing, which says nothing.
      _ = try FileStatus(of: staging.folder)
      return
    }
    do throws(SystemError) {
      _ = try folder.createDurably(delivery.subfolder)
    } catch {
      guard error.cause == .occupied else { throw error }
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
