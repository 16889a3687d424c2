import Glibc
import Ledger
import Model
import System

/// Puts staged files under their final names, and never over a file that is not ours.
struct Placement {
  let folder: JobFolder
  let staging: Staging
  let ledger: Ledger

  /// How a result got its final name.
  enum Outcome: Equatable {
    /// Its file has it now.
    case moved
    /// Its file has it now, in the place of one that this job delivered earlier.
    case replaced
    /// A file that had it is equal, and is taken for the result.
    case adopted(FileIdentity)
  }

  /// Moves a staged file to its final name, over nothing but what this job delivered earlier. A file of our user that has
  /// exactly the bytes already is taken for it.
  /// - Parameters:
  ///   - opened: The folder to which it goes, if that is open already.
  ///   - existingFile: What had the name a while ago, if that is known: as long as it is the same, it is not read again.
  /// - Throws: `EntryFailure` with `name-conflict` when something else has the name; `SystemError`, `SQLiteError`.
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

  /// Checks that nothing keeps a result from its final name, unless its original is placed already: one without a result is
  /// not to stay in the outbox.
  /// - Throws: As `place`, whose parameters it has.
  func check(
    _ delivery: Delivery, before original: Delivery, in opened: OpenFolder? = nil,
    over existingFile: ExistingFile? = nil
  ) throws {
    guard try staging.open().status(of: original.staged) != nil else { return }
    let target = try opened ?? folder.open(delivery.subfolder)
    guard try target.status(of: Folder.name(of: delivery.target)) != nil else { return }
    _ = try self.existingFile(of: delivery, in: target, existingFile)
  }

  /// What has the final name of a delivery, and may be replaced or taken for it.
  private func existingFile(of delivery: Delivery, in target: OpenFolder, _ last: ExistingFile?) throws -> ExistingFile
  {
    let name = Folder.name(of: delivery.target)
    let isUnchanged = try last.map { try target.status(of: name)?.identity == $0.identity } == true
    if let last, isUnchanged, last.kind == .ours { return last }
    let known = try ledger.output(job: folder.name, target: delivery.target)
    // What is equal may have been delivered since, by the run that this one replaces.
    if let last, isUnchanged, known == nil { return last }
    let existingFile = try ExistingFile(
      name, in: target, bytes: delivery.bytes, sha256: delivery.sha256, known: known, staging: staging)
    if let existingFile { return existingFile }
    throw EntryFailure.conflict(
      known == nil
        ? "\(delivery.target) exists, and the ledger does not know it as a result of this job; it was left as it is: move it away"
        : "\(delivery.target) was changed since this job delivered it; it was left as it is: move it away")
  }

  /// Removes what was made of an earlier result of the same name, if it is still what this job delivered: the result that has
  /// taken its place has none.
  /// - Parameter name: Of the result.
  /// - Returns: The folder that has lost a name; nil when there was no such file, and when it cannot be removed now.
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
  /// - Throws: As `place`.
  @discardableResult
  func recover(_ delivery: Delivery) throws -> Outcome {
    // Staging was synced before the intent was recorded: a staged file that is gone was renamed, or removed because an equal
    // one has its name. If there is none, whoever was waiting for it has taken it away, or replaced it.
    guard let staged = try staging.open().status(of: delivery.staged) else {
      if try folder.holds(delivery) { return .moved }
      if try folder.status(of: delivery.target) != nil {
        throw EntryFailure.conflict("\(delivery.target) was replaced by someone else")
      }
      // Where the file system is not mounted everything is missing, which says nothing.
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
    // Where a rename is a link and a removal, it may have both names.
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
  /// Records that it has its final name.
  /// - Parameter isOwn: Whether this job has just put there what was adopted, for another entry.
  mutating func record(_ outcome: Placement.Outcome, isOwn: Bool) {
    isPlaced = true
    guard case .adopted(let found) = outcome else {
      let identity = try? file?.status().identity
      // Not when it was changed already.
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
