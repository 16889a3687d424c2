import CLinux
import Glibc
import System

/// A folder of the inbox in which only this program works, and into which a file is moved to be examined undisturbed.
///
/// Others may write to the inbox. So the folder is opened once, without following a symbolic link, everything is done
/// relative to its descriptor, and nothing is replaced in either direction.
struct ParkingFolder {
  static let name = ".darkroom-done"

  private let inbox: OpenFile
  private let folder: OpenFile

  /// Opens the folder.
  /// - Parameter isCreated: Whether it is created when it is missing.
  /// - Returns: nil when it is missing and not to be created.
  /// - Throws: `SystemError` when the name is that of a symbolic link, of a file, or of another user's folder.
  init?(in inbox: OpenFile, isCreated: Bool) throws(SystemError) {
    let path = inbox.path + "/" + Self.name
    let isNew = isCreated && mkdirat(inbox.descriptor, Self.name, 0o700) == 0
    if isCreated, !isNew, errno != EEXIST { throw SystemError("mkdirat", path) }
    do {
      folder = try OpenFile(folder: Self.name, in: inbox)
    } catch  where error.code == ENOENT && !isCreated {
      return nil
    }
    // Some file systems, such as network shares, give new folders to another user.
    let owner = try folder.status().owner
    guard isNew || owner == geteuid() else {
      throw SystemError("the folder is another user's", path, code: EPERM)
    }
    self.inbox = inbox
  }

  /// The names in it that are UTF-8.
  var names: [String] { get throws(SystemError) { try Folder.names(in: folder).compactMap(\.text) } }

  /// The identity of a file in it; nil when there is none of that name.
  func identity(of name: String) throws(SystemError) -> FileIdentity? { try FileStatus(of: name, in: folder)?.identity }

  /// Moves a file from the inbox into the folder.
  /// - Throws: `SystemError`, also when there is a file of that name already.
  func takeIn(_ name: String) throws(SystemError) {
    if clinux_rename_noreplace(inbox.descriptor, name, folder.descriptor, name) == 0 { return }
    guard errno == EINVAL || errno == ENOSYS else { throw failure("renameat2", name) }
    // The file system does not know the flag. Nobody else gives names in this folder, so a look before is as good; and a
    // rename takes whatever has the name in the inbox by then, which link and unlink would not.
    guard try identity(of: name) == nil else { throw failure("renameat", name, code: EEXIST) }
    guard renameat(inbox.descriptor, name, folder.descriptor, name) == 0 else { throw failure("renameat", name) }
  }

  /// Moves a file back into the inbox, unless its name has been taken there; then it stays.
  func putBack(_ name: String) throws(SystemError) {
    if clinux_rename_noreplace(folder.descriptor, name, inbox.descriptor, name) == 0 || errno == EEXIST { return }
    guard errno == EINVAL || errno == ENOSYS else { throw failure("renameat2", name) }
    guard linkat(folder.descriptor, name, inbox.descriptor, name, 0) == 0 else {
      if errno == EEXIST { return }
      throw failure("linkat", name)
    }
    try remove(name)
  }

  /// Removes a file from the folder.
  func remove(_ name: String) throws(SystemError) {
    guard unlinkat(folder.descriptor, name, 0) == 0 || errno == ENOENT else { throw failure("unlinkat", name) }
  }

  /// Removes the folder from the inbox, if it is empty.
  func removeIfEmpty() { unlinkat(inbox.descriptor, Self.name, AT_REMOVEDIR) }

  private func failure(_ operation: String, _ name: String, code: Int32 = errno) -> SystemError {
    SystemError(operation, folder.path + "/" + name, code: code)
  }
}
