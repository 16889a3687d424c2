import CLinux
import Glibc
import System

/// A folder of the inbox that only this program uses. A file is moved there to be examined without interference.
///
/// Others may write to the inbox. The folder is therefore opened once without following symbolic links, used by its
/// descriptor, and nothing is replaced in either direction.
package struct ParkingFolder {
  static let name = ".darkroom-done"

  /// The possible names. A later one is used when an earlier one is taken by another file, or when its folder contains
  /// a file of the name to be moved.
  static let names = [name] + (2...9).map { "\(name)-\($0)" }

  private let name: String
  private let inbox: OpenFolder
  private let folder: OpenFolder

  /// Opens the folder.
  /// - Parameters:
  ///   - name: One of `names`.
  ///   - isCreated: Whether to create the folder if it is missing.
  /// - Returns: nil when it is missing and is not created.
  /// - Throws: `SystemError` when the name belongs to a symbolic link, a file, or a folder of another user.
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

  /// The existing parking folders, and the errors for other files with their names, which are never opened.
  /// - Throws: `SystemError` when the machine fails.
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

  /// Whether an error means that a name, or the file's name in that folder, is taken, so that the next one is tried.
  static func isOther(_ error: SystemError) -> Bool { [.occupied, .permission].contains(error.cause) }

  /// The names in it that are UTF-8.
  var names: [String] { get throws(SystemError) { try folder.names().compactMap(\.text) } }

  /// The identity of a file in the folder; nil when it does not exist.
  func identity(of name: String) throws(SystemError) -> FileIdentity? { try folder.status(of: name)?.identity }

  /// Moves a file from the inbox into the folder.
  /// - Throws: `SystemError`, also when the folder has a file of that name.
  func park(_ name: String) throws(SystemError) {
    if uninterrupted({ clinux_rename_noreplace(inbox.descriptor, name, folder.descriptor, name) }) == 0 { return }
    guard errno == EINVAL || errno == ENOSYS else { throw failure("renameat2", name) }
    // The file system does not support the flag. Only this program adds names to this folder, so checking before is
    // safe. A rename moves whatever has the name in the inbox at that time, unlike link and unlink.
    guard try identity(of: name) == nil else { throw failure("renameat", name, code: EEXIST) }
    try inbox.rename(name, to: folder, as: name)
  }

  /// Moves a file back to the inbox. It stays if its name is taken there.
  func putBack(_ name: String) throws(SystemError) { _ = try folder.renameWithoutReplacing(name, to: inbox, as: name) }

  /// Removes a file from the folder.
  func remove(_ name: String) throws(SystemError) { try folder.remove(name) }

  /// Removes the folder from the inbox, if it is empty.
  func removeIfEmpty() { inbox.removeIfEmpty(name) }

  private func failure(_ operation: String, _ name: String, code: Int32 = errno) -> SystemError {
    SystemError(operation, folder.path + "/" + name, code: code)
  }
}
