import CLinux
import Glibc
import System

/// A folder of the inbox in which only this program works, and into which a file is moved to be examined undisturbed.
///
/// Others may write to the inbox. So the folder is opened once, without following a symbolic link, everything is done
/// relative to its descriptor, and nothing is replaced in either direction.
package struct ParkingFolder {
  static let name = ".darkroom-done"

  /// The names that it may have: one of the next where something else has the first, or a file of it that is to be kept has
  /// the name of the one to be moved.
  static let names = [name] + (2...9).map { "\(name)-\($0)" }

  private let name: String
  private let inbox: OpenFolder
  private let folder: OpenFolder

  /// Opens the folder.
  /// - Parameters:
  ///   - name: One of `names`.
  ///   - isCreated: Whether it is created when it is missing.
  /// - Returns: nil when it is missing and not to be created.
  /// - Throws: `SystemError` when the name is that of a symbolic link, of a file, or of another user's folder.
  init?(_ name: String, in inbox: OpenFolder, isCreated: Bool) throws(SystemError) {
    var isNew = false
    if isCreated {
      let (folder, changed) = try inbox.create(name, mode: 0o700)
      (self.folder, isNew) = (folder, !changed.isEmpty)
    } else {
      do {
        folder = try inbox.folder(name)
      } catch  where error.code == ENOENT {
        return nil
      }
    }
    self.inbox = inbox
    self.name = name
    let status = try folder.status()
    guard isNew || inbox.isOurs(status) else {
      throw SystemError("the folder is another user's", folder.path, code: EPERM)
    }
  }

  /// Those that are there, and what else has one of their names: in that nothing is ever looked for.
  /// - Throws: `SystemError` when the machine is to blame.
  package static func all(in inbox: OpenFolder) throws(SystemError) -> (folders: [ParkingFolder], others: [SystemError])
  {
    var (folders, others): ([ParkingFolder], [SystemError]) = ([], [])
    for name in names {
      do throws(SystemError) {
        if let folder = try ParkingFolder(name, in: inbox, isCreated: false) { folders.append(folder) }
      } catch  where isOther(error) {
        others.append(error)
      }
    }
    return (folders, others)
  }

  /// Whether an error says that one of the names is another's, or a file's in the folder, so that the next may do.
  static func isOther(_ error: SystemError) -> Bool { [.occupied, .permission].contains(error.cause) }

  /// The names in it that are UTF-8.
  var names: [String] { get throws(SystemError) { try folder.names().compactMap(\.text) } }

  /// The identity of a file in it; nil when there is none of that name.
  func identity(of name: String) throws(SystemError) -> FileIdentity? { try folder.status(of: name)?.identity }

  /// Moves a file from the inbox into the folder.
  /// - Throws: `SystemError`, also when there is a file of that name already.
  func takeIn(_ name: String) throws(SystemError) {
    if uninterrupted({ clinux_rename_noreplace(inbox.descriptor, name, folder.descriptor, name) }) == 0 { return }
    guard errno == EINVAL || errno == ENOSYS else { throw failure("renameat2", name) }
    // The file system does not know the flag. Nobody else gives names in this folder, so a look before is as good; and a
    // rename takes whatever has the name in the inbox by then, which link and unlink would not.
    guard try identity(of: name) == nil else { throw failure("renameat", name, code: EEXIST) }
    try inbox.rename(name, to: folder, as: name)
  }

  /// Moves a file back into the inbox, unless its name has been taken there; then it stays.
  func putBack(_ name: String) throws(SystemError) { _ = try folder.renameWithoutReplacing(name, to: inbox, as: name) }

  /// Removes a file from the folder.
  func remove(_ name: String) throws(SystemError) { try folder.remove(name) }

  /// Removes the folder from the inbox, if it is empty.
  func removeIfEmpty() { inbox.removeIfEmpty(name) }

  private func failure(_ operation: String, _ name: String, code: Int32 = errno) -> SystemError {
    SystemError(operation, folder.path + "/" + name, code: code)
  }
}
