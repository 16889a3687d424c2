import Glibc
import Ledger
import Model
import System

/// Moves staged files to their final names, and replaces only files that this program delivered.
struct Placement {
  let folder: JobFolder
  let staging: Staging
  let ledger: Ledger

  /// How a result got its final name.
  enum Outcome: Equatable {
    /// The file was moved to its final name.
    case moved
    /// The file was moved to its final name, and replaced one that this job delivered earlier.
    case replaced
    /// An existing file with the same bytes is used as the result.
    case adopted(FileIdentity)
  }

  /// Moves a staged file to its final name, and replaces only a file that this job delivered earlier. An existing file
  /// of the process's user with the same bytes is used instead.
  /// - Parameters:
  ///   - opened: The open folder of the target. Default: nil, it is opened.
  ///   - existingFile: The file that had the name earlier, if known. It is not read again while it is unchanged.
  /// - Throws: `EntryFailure` with `name-conflict` when another file has the name; `SystemError`, `SQLiteError`.
  @discardableResult
  func place(
    _ delivery: Delivery, in opened: OpenFolder? = nil, over existingFile: ExistingFile? = nil
  ) throws -> Outcome {
    let target = try opened ?? folder.open(delivery.subfolder)
    let (staged, name) = (try staging.open(), Folder.name(of: delivery.target))
    if try staged.renameWithoutReplacing(delivery.staged, to: target, as: name) { return .moved }
    let existingFile = try self.existingFile(of: delivery, in: target, existingFile)
    switch existingFile.kind {
    case .ours:
      try staged.rename(delivery.staged, to: target, as: name)
      return .replaced
    case .equal:
      staging.remove(delivery.staged)
      return .adopted(existingFile.identity)
    }
  }

  /// Checks that a result can get its final name before its original gets one. Does nothing if the original has been moved
  /// already.
  /// - Throws: The errors of `place`, whose parameters it has.
  func check(
    _ delivery: Delivery, before original: Delivery, in opened: OpenFolder? = nil,
    over existingFile: ExistingFile? = nil
  ) throws {
    guard try staging.open().status(of: original.staged) != nil else { return }
    let target = try opened ?? folder.open(delivery.subfolder)
    guard try target.status(of: Folder.name(of: delivery.target)) != nil else { return }
    _ = try self.existingFile(of: delivery, in: target, existingFile)
  }

  /// The file that has the final name of a delivery, and may be replaced or used instead.
  private func existingFile(of delivery: Delivery, in target: OpenFolder, _ last: ExistingFile?) throws -> ExistingFile
  {
    let name = Folder.name(of: delivery.target)
    let isUnchanged = try last.map { try target.status(of: name)?.identity == $0.identity } == true
    if let last, isUnchanged, last.kind == .ours { return last }
    let known = try ledger.output(job: folder.name, target: delivery.target)
    // An equal file may have been delivered since then by the run that this one replaces.
    if let last, isUnchanged, known == nil { return last }
    let existingFile = try ExistingFile(
      name, in: target, bytes: delivery.bytes, sha256: delivery.sha256, known: known, staging: staging)
    if let existingFile { return existingFile }
    throw EntryFailure.conflict(
      known == nil
        ? "\(delivery.target) exists, and the ledger does not know it as a result of this job; it was left as it is: move it away"
        : "\(delivery.target) was changed since this job delivered it; it was left as it is: move it away")
  }

  /// Removes a derived file of an earlier result, if it is unchanged since this job delivered it, because the new
  /// result has no such file.
  /// - Parameter name: The name of the result.
  /// - Returns: The folder of the removed file; nil when there was no such file, or it cannot be removed now.
  /// - Throws: `SQLiteError`.
  func remove(_ kind: Artifact.Kind, of name: String) throws -> String? {
    let target = JobFolder.path(of: kind, name)
    guard let known = try ledger.output(job: self.folder.name, target: target), known.origin == kind.origin,
      (try? self.folder.holds(target, bytes: known.bytes, sha256: known.sha256)) == true,
      (try? self.folder.open(Folder.parent(of: target)).remove(Folder.name(of: target))) != nil
    else { return nil }
    return Folder.parent(of: target)
  }

  /// Completes a delivery that was interrupted when the program died.
  /// - Throws: The errors of `place`.
  @discardableResult
  func recover(_ delivery: Delivery) throws -> Outcome {
    // Staging was synced before the intent was recorded. A missing staged file was therefore renamed, or removed
    // because an equal file exists. If that is missing too, a consumer has moved or replaced it.
    guard let staged = try staging.open().status(of: delivery.staged) else {
      if try folder.holds(delivery) { return .moved }
      if try folder.status(of: delivery.target) != nil {
        throw EntryFailure.conflict("\(delivery.target) was replaced by someone else")
      }
      // If the file system is not mounted, all files seem to be missing.
      try staging.checkPresence()
      return .moved
    }
    let target: OpenFolder
    do throws(SystemError) {
      target = try folder.createDurably(delivery.subfolder)
    } catch {
      guard error.cause == .occupied else { throw error }
      throw EntryFailure(creating: folder.file(delivery.subfolder), error)
    }
    // Where a rename is a link followed by a removal, the file may have both names.
    if let found = try target.status(of: Folder.name(of: delivery.target)), found.kind == .file,
      found.identity.isSameNode(as: staged.identity)
    {
      staging.remove(delivery.staged)
      return .moved
    }
    return try place(delivery, in: target)
  }
}

extension Artifact {
  /// Records that the file has its final name.
  /// - Parameter isOwn: Whether this job delivered the adopted file just before, for another entry.
  mutating func record(_ outcome: Placement.Outcome, isOwn: Bool) {
    isPlaced = true
    guard case .adopted(let found) = outcome else {
      let identity = try? file?.status().identity
      // No identity if the file was changed already.
      delivery.identity = identity?.size == delivery.bytes ? identity?.text : nil
      return
    }
    delivery.identity = found.text
    if isOwn { return }
    var provenance = delivery.origin.flatMap(Provenance.init(text:))
    provenance?.isAdopted = true
    delivery.origin = provenance?.text ?? (kind == .result ? delivery.origin : nil)
  }
}

extension Delivery {
  /// The folder of the target, relative to the job's.
  var subfolder: String { target.utf8.contains(UInt8(ascii: "/")) ? Folder.parent(of: target) : "" }
}

extension EntryFailure {
  /// The failure of an entry whose files cannot be delivered.
  /// - Parameter givesUp: Whether the entry fails also when only an operator can remove the cause, such as want of permission.
  /// - Returns: nil when the delivery is tried again.
  init?(delivering error: any Error, givesUp: Bool) {
    let isLeftToOperator = error is SystemError && !error.mayPassSoon && !error.isOutOfSpace
    if error.isDamageOfLedger || error.isOfMachineForOwnFile && !(givesUp && isLeftToOperator) { return nil }
    self.init(error, otherwise: .io)
    disposition = .final
  }

  /// The failure of an entry whose folder cannot be created.
  init(creating folder: String, _ error: SystemError) {
    switch error.code {
    case ENOTDIR, EEXIST:
      self = .conflict("the folder \(folder) cannot be made: a file or a symbolic link has its name")
    case ELOOP: self = .conflict("the folder \(folder) cannot be made: a symbolic link has its name")
    default: self.init(error)
    }
  }
}
