import Glibc

/// Takes a manifest out of the inbox once its job is done, but only if it is still the file that was processed: if it
/// was replaced, the new one is a manifest to be processed.
enum ManifestRemoval {
  /// Between a look at a file and its removal someone could rename a new manifest over its name. So the file is first
  /// moved into this folder of the inbox, where only we look, and looked at again.
  static let parkingFolder = ".darkroom-done"

  /// - Parameter identity: Of the file that was accepted, as the ledger has it.
  /// - Throws: `SystemError` when the file cannot be taken away.
  static func remove(_ path: String, identity: String) throws(SystemError) {
    guard try isStill(path, identity) else { return }
    let parking = Folder.parent(of: path) + "/" + parkingFolder
    try Folder.create(parking, mode: 0o700)
    let parked = parking + path[(path.lastIndex(of: "/") ?? path.startIndex)...]
    try Folder.rename(path, to: parked)
    if try isSameFile(parked, identity) {
      try Folder.removeFile(parked)
    } else {
      _ = try Folder.renameWithoutReplacing(parked, to: path)
    }
    rmdir(parking)
  }

  /// Ends what a program that died had begun: a manifest whose job is finishing is removed, another is put back.
  /// - Parameter finishing: The identities of the manifests whose jobs are finishing.
  static func resume(inbox: String, finishing: [String]) throws(SystemError) {
    let parking = inbox + "/" + parkingFolder
    do {
      _ = try FileStatus(of: parking)
    } catch  where error.code == ENOENT {
      return
    }
    for name in try Folder.names(in: parking).compactMap(\.text) {
      let parked = parking + "/" + name
      var isDone = false
      for identity in finishing where try isSameFile(parked, identity) { isDone = true }
      if isDone {
        try Folder.removeFile(parked)
      } else {
        _ = try Folder.renameWithoutReplacing(parked, to: inbox + "/" + name)
      }
    }
    rmdir(parking)
  }

  private static func isStill(_ path: String, _ identity: String) throws(SystemError) -> Bool {
    do {
      return try FileStatus(of: path).identity.text == identity
    } catch  where error.code == ENOENT {
      return false
    }
  }

  /// A rename changes the ctime and nothing else.
  private static func isSameFile(_ path: String, _ identity: String) throws(SystemError) -> Bool {
    let found = try FileStatus(of: path).identity.text
    return found.split(separator: " ").dropLast().elementsEqual(identity.split(separator: " ").dropLast())
  }
}
