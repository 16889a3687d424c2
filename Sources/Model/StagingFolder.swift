import System

/// The staging folder of a state folder, in the outbox. Each state folder has its own.
///
/// The state folder records the name, so that the folder is found after either was moved. The name begins with a digest of
/// the state folder's path, so that the outbox shows that it was used with a state folder which was lost since.
package struct StagingFolder: Sendable {
  package let folder: OpenFolder

  /// Whether it existed, so that the outbox was used with this state folder before.
  package let wasThere: Bool

  /// Whether it is certainly the one that the state folder used last, so that a staged file which is missing was delivered.
  package let isKnown: Bool

  /// The folder of all staging folders, in the hidden folder.
  private static let parent = "staging"

  /// The file in the state folder that names the staging folder. Earlier versions have none, and use the digest as the name.
  static let record = "staging-name"

  /// The path relative to the outbox.
  package var pathInOutbox: String { OutboxFolder.hidden(Self.parent + "/" + Folder.name(of: folder.path)) }

  /// Opens the folder, and creates it when there is none. The caller owns both folders.
  package init(of state: StateFolder, in hidden: OpenFolder) throws(SystemError) {
    let (all, changed) = try hidden.create(Self.parent, mode: 0o700)
    for path in changed { try Folder.sync(path) }
    let recorded = Self.recordedName(in: state)
    if let recorded, try all.status(of: recorded) != nil {
      (folder, wasThere, isKnown) = (try all.folder(recorded), true, true)
      return
    }
    let digest = String(MessageDigest.hexDigest(of: state.path).prefix(8))
    let found = try all.names().compactMap(\.text).filter { $0 == digest || $0.hasPrefix(digest + "-") }.min()
    wasThere = found != nil
    let hasLedger = try FileStatus.exists(state.ledger)
    isKnown = hasLedger && recorded == nil && found == digest
    if isKnown {
      folder = try all.folder(digest)
      return
    }
    // A new name: another state folder, which has been moved away from this path, may have recorded the old one.
    let name = digest + "-" + RunID.make().suffix(8)
    if let found {
      try all.rename(found, to: all, as: name)
      folder = try all.folder(name)
    } else {
      folder = try all.create(name, mode: 0o700).folder
    }
    try all.sync()
  }

  /// Records the name durably in the state folder. Until then the folder is not known.
  package func remember(in state: StateFolder) throws(SystemError) {
    let name = Folder.name(of: folder.path)
    if Self.recordedName(in: state) == name { return }
    let folder = try state.openFolder()
    try folder.replace(Self.record, with: name + "\n", mode: 0o600)
    try folder.open(reading: Self.record).sync()
    try folder.sync()
  }

  private static func recordedName(in state: StateFolder) -> String? {
    guard let start = try? state.openFolder().open(reading: record).readStart(65), start.last == 0x0a else {
      return nil
    }
    let name = String(decoding: start.dropLast(), as: UTF8.self)
    return RunID.isValid(name) ? name : nil
  }
}
