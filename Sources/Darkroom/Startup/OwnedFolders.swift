import Delivery
import Foundation
import Glibc
import Inbox
import Model
import System

/// Inbox, outbox and state folder, which belong to this process until it ends.
struct OwnedFolders {
  let inbox: Inbox
  let outbox: OutboxFolder
  let state: StateFolder

  /// `OUTBOX/.darkroom`.
  let hidden: OpenFolder

  /// Where results wait to be delivered.
  let stagingFolder: StagingFolder

  /// Problems of the folders that do no harm.
  let warnings: [String]

  private let instances: [InstanceLock]

  /// Identifies the outbox wherever it is mounted; nil when it could not be written, as on a full disk.
  private let marker: String?

  /// The outboxes that were used with the inbox before.
  private let knownOutboxes: KnownOutboxes

  /// Identity of `hidden` at the start.
  private let identity: FileIdentity

  /// Opens the folders, creates those that may be created, and locks them.
  /// - Throws: `StopError` when another process owns one, or the outbox is not the one that was used before; `SystemError`.
  init(_ configuration: Configuration) throws {
    inbox = try Self.openInbox(configuration)
    let trouble = try inbox.own()
    // Created only after the lock of the inbox is held.
    if configuration.newFolders.contains(configuration.outbox) { try Folder.create(configuration.outbox) }
    let path = try Folder.resolved(configuration.outbox)
    outbox = OutboxFolder(
      path: path, handle: try OpenFolder(path),
      pictures: try configuration.shared.map { shared in try OpenFolder(shared.outbox) })
    knownOutboxes = inbox.knownOutboxes
    let known = configuration.replacesOutbox ? nil : knownOutboxes.marker(of: path)
    do {
      if let known { try OutboxMarker.check(outbox, is: known) }
    } catch {
      if configuration.newFolders.contains(configuration.outbox) {
        try? OpenFolder(Folder.parent(of: path)).removeIfEmpty(Folder.name(of: path))
      }
      throw error
    }
    hidden = try outbox.openHidden()
    identity = try hidden.status().identity
    if let pictures = outbox.pictures, try pictures.status().identity.device != identity.device {
      throw StopError.outbox(
        "\(path) and the outbox \(pictures.path) must be in one file system, since results are moved from one to the other"
      )
    }
    let outboxLock = try InstanceLock(OutboxFolder.instanceName, in: hidden, of: outbox.path)
    try Folder.createDurably(configuration.state, mode: 0o700)
    state = try StateFolder(opening: Folder.resolved(configuration.state))
    let isStateNew = (try? FileStatus(of: state.ledger)) == nil
    let isElsewhere = state.path != outbox.hidden
    instances =
      try [outboxLock] + (isElsewhere ? [InstanceLock(OutboxFolder.instanceName, in: OpenFolder(state.path))] : [])
    // Without it everything works, but an outbox that is not mounted is not noticed.
    marker = try? OutboxMarker.take(outboxLock, in: hidden, known: known)
    stagingFolder = try StagingFolder(of: state, in: hidden)
    if configuration.shared != nil { Self.removeStaging(in: hidden, except: stagingFolder.folder.path) }
    let hasOtherState =
      isStateNew && !stagingFolder.wasThere && configuration.shared == nil && Self.hasSeveralStates(hidden)
    warnings = Self.warnings(of: inbox, trouble) + (hasOtherState ? [Self.otherState(than: state)] : [])
  }

  /// Removes the staging folders of other states of a shard, which were lost with their machines. The caller owns the outbox.
  private static func removeStaging(in hidden: OpenFolder, except own: String) {
    for name in ((try? hidden.folder("staging").names()) ?? []).compactMap(\.text) {
      let path = "\(hidden.path)/staging/\(name)"
      if path != own { try? FileManager.default.removeItem(atPath: path) }
    }
  }

  /// Whether staging has folders of several state folders.
  private static func hasSeveralStates(_ hidden: OpenFolder) -> Bool {
    (try? hidden.folder("staging").names().count > 1) == true
  }

  private static func otherState(than state: StateFolder) -> String {
    "the outbox was used with another state folder than \(state.path), which does not know those jobs and results: is --state "
      + "missing, or another one?"
  }

  /// Opens the inbox. One that is missing is created, unless the outbox is another instance's.
  private static func openInbox(_ configuration: Configuration) throws -> Inbox {
    if configuration.newFolders.contains(configuration.inbox) {
      let file = OutboxFolder.hidden(OutboxFolder.instanceName)
      if let holder = try InstanceLock.holder(file: file, beneath: configuration.outbox) {
        throw StopError.busy(folder: configuration.outbox, process: holder)
      }
      try Folder.create(configuration.inbox)
    }
    return try Inbox(
      path: Folder.resolved(configuration.inbox), extraLock: configuration.lockFile,
      sharedInbox: configuration.shared?.inbox)
  }

  /// - Parameter trouble: Why the inbox cannot be owned; nil when it is.
  private static func warnings(of inbox: Inbox, _ trouble: String?) -> [String] {
    let others = (try? ParkingFolder.all(in: inbox.folder).others) ?? []
    return (trouble.map { ["the inbox has no file that says which process owns it: \($0)"] } ?? [])
      + others.map { "something else has the name of darkroom's own folder in the inbox, and is left alone: \($0)" }
  }

  var staging: OpenFolder { stagingFolder.folder }

  /// Whether the inbox was used with this outbox before. Then a manifest that is missing at the start was removed; in a
  /// folder under which a share is to be mounted it was not.
  var knowsInbox: Bool { marker != nil && knownOutboxes.marker(of: outbox.path) == marker }

  /// Records in the inbox that it is used with this outbox.
  func rememberOutbox() {
    guard let marker else { return }
    var outboxes = knownOutboxes
    outboxes.remember(marker, of: outbox.path)
    try? inbox.remember(outboxes)
  }

  /// When the ledger or the status was last written, in milliseconds since 1970; 0 when there is neither.
  var lastActive: Int {
    // While the queues are suspended only the status is written.
    let written = [
      try? state.openFolder().status(of: Folder.name(of: state.ledger)),
      try? hidden.status(of: OutboxFolder.statusName),
    ]
    return written.compactMap { $0 }.map { $0.identity.modified.milliseconds }.max() ?? 0
  }

  /// Checks that the outbox is still the folder that this process owns: another instance may own another one, and what is
  /// written into an unmounted share's mount point is lost.
  /// - Returns: Why it cannot be examined now, or that it is missing, as while a share is not mounted; nil when it is there.
  /// - Throws: `StopError.outbox` when another folder has its path.
  func checkOutbox() throws -> StopError? {
    try Self.check(outbox.hidden, is: identity, of: "\(outbox.path): the outbox")
  }

  /// Checks that the ledger is still the file that this process has open: what is written to a removed one is lost.
  /// - Parameter known: Its identity when it was opened.
  /// - Returns: Why it cannot be examined now, or that the state folder is missing, as while a share is not mounted; nil when it is
  ///   there.
  /// - Throws: `StopError.outbox` when another file has its path, or the folder is there without it: it would not come back.
  func checkLedger(is known: FileIdentity) throws -> StopError? {
    let subject = "\(state.ledger): the ledger"
    let trouble = try Self.check(state.ledger, is: known, of: subject)
    guard trouble != nil, let names = try? OpenFolder(state.path).names(),
      !names.contains(FileName(Folder.name(of: state.ledger))), names.contains(FileName(Folder.name(of: state.jobs)))
    else { return trouble }
    throw StopError.outbox("\(subject) was removed; what is not done stays for the next start")
  }

  private static func check(_ path: String, is known: FileIdentity, of subject: String) throws -> StopError? {
    do {
      if try FileStatus(of: path).identity.isSameNode(as: known) { return nil }
    } catch  where error.code != ENOENT && error.code != ENOTDIR {
      return .outbox("\(subject) cannot be examined: \(error)")
    } catch {
      return .outbox("\(subject) was removed, or is not mounted")
    }
    throw StopError.outbox("\(subject) was replaced; what is not done stays for the next start")
  }
}
