import Glibc
import Ledger
import Transfer

/// Puts staged files under their final names, and never over a file that is not ours.
struct Placement {
  /// What became of a staged file.
  enum Outcome: Sendable, Equatable {
    case placed
    /// Something that this job has not delivered has the name.
    case conflict(String)
  }

  let folder: JobFolder
  let staging: Staging
  let ledger: Ledger

  /// Moves a staged file to its final name, over nothing but what this job delivered earlier.
  /// - Throws: `SystemError`, `SQLiteError`.
  func place(_ delivery: Delivery) throws -> Outcome {
    let target = folder.file(delivery.target)
    let staged = staging.path(delivery.staged)
    if try Folder.renameWithoutReplacing(staged, to: target) { return .placed }
    guard let ours = try ledger.output(job: folder.name, target: delivery.target) else {
      return .conflict(
        "\(delivery.target) exists, and this job has not delivered it; it was left as it is: move it away")
    }
    guard try Self.holds(target, bytes: ours.bytes, sha256: ours.sha256) else {
      return .conflict(
        "\(delivery.target) was changed since this job delivered it; it was left as it is: move it away")
    }
    try Folder.rename(staged, to: target)
    return .placed
  }

  /// Brings a delivery to its end of which it is not known how far it came before the program died.
  /// - Throws: `SystemError`, `SQLiteError`.
  func recover(_ delivery: Delivery) throws -> Outcome {
    let target = folder.file(delivery.target)
    if try Self.holds(target, bytes: delivery.bytes, sha256: delivery.sha256) {
      staging.remove(delivery.staged)
      return .placed
    }
    // Staging was synced before the intent was: a staged file that is gone was renamed, and whoever was waiting for it
    // has taken it away, or replaced it.
    guard try Self.exists(staging.path(delivery.staged)) else {
      return try Self.exists(target) ? .conflict("\(delivery.target) was replaced by someone else") : .placed
    }
    try Folder.createDurably(Folder.parent(of: target))
    return try place(delivery)
  }

  /// Whether a path names a regular file with these contents.
  static func holds(_ path: String, bytes: Int, sha256: String) throws -> Bool {
    do {
      let file = try OpenFile(reading: path, followingLinks: false)
      let status = try file.status()
      guard status.kind == .file, status.size == bytes else { return false }
      return try MessageDigest.hexDigest(ofDescriptor: file.descriptor) == sha256
    } catch let error as SystemError where [ENOENT, ELOOP, ENXIO, EACCES, ENOTDIR].contains(error.code) {
      return false
    }
  }

  private static func exists(_ path: String) throws(SystemError) -> Bool {
    do {
      _ = try FileStatus(of: path)
      return true
    } catch  where error.code == ENOENT || error.code == ENOTDIR {
      return false
    }
  }
}
