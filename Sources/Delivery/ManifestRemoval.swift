import Glibc
import System

/// Removes a manifest from the inbox when its job is done, if it is still the file that was processed. A replacement is
/// a new manifest and stays.
///
/// Between examining a file and removing it, another process could replace it. The file is therefore first moved to a
/// `ParkingFolder`, which only this program uses, and examined again.
package enum ManifestRemoval {
  /// Removes a manifest. May be called on several threads at once. The parking folder is removed when it is empty, and
  /// created again when necessary.
  /// - Parameters:
  ///   - identity: The identity of the accepted file, as the ledger stores it.
  ///   - wasLinked: Whether the file has been linked since, which changes its ctime.
  /// - Throws: `SystemError` when the file cannot be removed.
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

  /// Moves a file to the first usable parking folder without a file of its name.
  /// - Returns: The folder; nil when the file or the folder was removed in the meantime.
  /// - Throws: `SystemError` for the first folder, if none can be used.
  private static func take(_ name: String, from inbox: OpenFolder) throws(SystemError) -> ParkingFolder? {
    var obstacle: SystemError?
    for folder in ParkingFolder.names {
      do throws(SystemError) {
        guard let parking = try ParkingFolder(folder, in: inbox, isCreated: true) else { return nil }
        do throws(SystemError) {
          try parking.park(name)
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

  /// Completes the removals of a program that died: removes manifests whose jobs are finishing, and puts others back.
  /// - Parameters:
  ///   - finishing: The identities of the manifests whose jobs are finishing.
  ///   - ended: The identity of the last ended job's manifest of a name. A file that is put back gets a new ctime, and
  ///     would be processed again.
  /// - Throws: The first `SystemError`, after everything else was done.
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

  /// Compares identities without the ctime, which a rename changes.
  package static func isSameFile(_ found: FileIdentity, _ identity: String) -> Bool {
    found.text.split(separator: " ").dropLast().elementsEqual(identity.split(separator: " ").dropLast())
  }
}
