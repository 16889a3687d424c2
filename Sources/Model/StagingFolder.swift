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
    let record = Record(in: state)
    let digest = String(MessageDigest.hexDigest(of: state.path).prefix(8))
    func isOfPath(_ name: String) -> Bool { name == digest || name.begins(with: digest + "-") }
    let names = try all.names().compactMap(\.text)
    let recorded = record.map(\.name).flatMap { name in names.first { $0 == name } }
    let inode = try state.openFolder().status().identity.inode
    if let record, let recorded, isOfPath(recorded) || record.inode == inode {
      (folder, wasThere, isKnown) = (try all.folder(recorded), true, true)
      return
    }
    // One that another state folder has recorded, of which this one is a copy, is taken over like that of its path.
    let found = recorded ?? names.filter(isOfPath).min()
    wasThere = found != nil
    let hasLedger = try FileStatus.exists(state.ledger)
    isKnown = hasLedger && record == nil && found == digest
    if isKnown {
      folder = try all.folder(digest)
      return
    }
    // A new name: another state folder, which was copied or has been moved away from this path, may have recorded the old one.
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
    let folder = try state.openFolder()
    let record = Record(name: Folder.name(of: self.folder.path), inode: try folder.status().identity.inode)
    if Record(in: state) == record { return }
    try folder.replace(Self.record, with: "\(record.name)\n\(record.inode)\n", mode: 0o600)
    try folder.open(reading: Self.record).sync()
    try folder.sync()
  }

  /// What the state folder records.
  private struct Record: Equatable {
    let name: String

    /// That of the state folder: a copy of it has another one.
    let inode: UInt

    init(name: String, inode: UInt) { (self.name, self.inode) = (name, inode) }

    init?(in state: StateFolder) {
      guard let start = try? state.openFolder().open(reading: StagingFolder.record).readStart(256) else { return nil }
      let lines = String(decoding: start, as: UTF8.self).fields("\n", omittingEmpty: false)
      guard lines.count == 3, lines[2].isEmpty, RunID.isValid(lines[0]), let inode = UInt(lines[1]) else { return nil }
      self.init(name: lines[0], inode: inode)
    }
  }
}
