import Glibc
import System

/// Takes a manifest out of the inbox once its job is done, but only if it is still the file that was processed: if it
/// was replaced, the new one is a manifest to be processed.
///
/// Between a look at a file and its removal someone could rename a new manifest over its name. So the file is first
/// moved into `ParkingFolder`, where only this program works, and looked at again.
package enum ManifestRemoval {
  /// Several threads may do this at once, and the folder goes whenever it is empty: then it is created again.
  /// - Parameters:
  ///   - identity: Of the file that was accepted, as the ledger has it.
  ///   - wasLinked: Whether it was given another name since, so that its ctime may be another.
  /// - Throws: `SystemError` when the file cannot be taken away.
  package static func remove(_ path: String, identity: String, wasLinked: Bool = false) throws(SystemError) {
    let name = Folder.name(of: path)
    guard let inbox = try openIfThere(Folder.parent(of: path)) else { return }
    for _ in 0..<100 {
      guard let found = try inbox.status(of: name)?.identity else { return }
      guard found.text == identity || wasLinked && isSameFile(found, identity) else { return }
      guard let parking = try take(name, from: inbox) else { continue }
      defer { parking.removeIfEmpty() }
      if try parking.identity(of: name).map({ isSameFile($0, identity) }) == true {
        try parking.remove(name)
      } else {
        try parking.putBack(name)
      }
      return
    }
    throw SystemError("rename", path, code: ENOENT)
  }

  /// Moves a file into the first folder that can be had and has no file of the name.
  /// - Returns: The folder; nil when the file or the folder has gone meanwhile.
  /// - Throws: `SystemError`: why it is not the first.
  private static func take(_ name: String, from inbox: OpenFolder) throws(SystemError) -> ParkingFolder? {
    var obstacle: SystemError?
    for folder in ParkingFolder.names {
      do throws(SystemError) {
        guard let parking = try ParkingFolder(folder, in: inbox, isCreated: true) else { return nil }
        do throws(SystemError) {
          try parking.takeIn(name)
        } catch {
          parking.removeIfEmpty()
          throw error
        }
        return parking
      } catch  where error.code == ENOENT {
        return nil
      } catch  where ParkingFolder.isOther(error) {
        obstacle = obstacle ?? error
      }
    }
    if let obstacle { throw obstacle }
    return nil
  }

  /// Ends what a program that died had begun: a manifest whose job is finishing is removed, another is put back.
  /// - Parameters:
  ///   - finishing: The identities of the manifests whose jobs are finishing.
  ///   - ended: The identity of the manifest of a name whose job ended last. What is put back is another file than was
  ///     accepted, by its ctime, and would be processed again.
  /// - Throws: `SystemError`, the first, when something cannot be done; the rest has been done then.
  package static func resume(
    inbox: OpenFolder, finishing: [String], ended: (String) -> String? = { _ in nil }
  ) throws(SystemError) {
    var failure: SystemError?
    for parking in try ParkingFolder.all(in: inbox).folders {
      do {
        try empty(parking, finishing: finishing, ended: ended)
      } catch {
        failure = failure ?? error
      }
      parking.removeIfEmpty()
    }
    if let failure { throw failure }
  }

  private static func empty(
    _ parking: ParkingFolder, finishing: [String], ended: (String) -> String?
  ) throws(SystemError) {
    var failure: SystemError?
    for name in try parking.names {
      do {
        guard let found = try parking.identity(of: name) else { continue }
        let isDone = (finishing + [ended(name)].compactMap { $0 }).contains { isSameFile(found, $0) }
        if isDone { try parking.remove(name) } else { try parking.putBack(name) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private static func openIfThere(_ folder: String) throws(SystemError) -> OpenFolder? {
    do {
      return try OpenFolder(folder)
    } catch  where error.code == ENOENT {
      return nil
    }
  }

  /// A rename changes the ctime and nothing else.
  package static func isSameFile(_ found: FileIdentity, _ identity: String) -> Bool {
    found.text.split(separator: " ").dropLast().elementsEqual(identity.split(separator: " ").dropLast())
  }
}
