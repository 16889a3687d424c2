import CLinux
import Glibc
import System

extension FileRoot {
  /// Opens a folder for listing. Symbolic links are resolved; their target must be beneath the file root.
  /// - Parameters:
  ///   - path: Absolute, or relative to the file root; empty for that itself.
  ///   - shown: What messages call it.
  /// - Throws: `file-not-found` for what is missing, unreadable, or no folder; `address-not-allowed` for what is not beneath
  ///   the file root; `io` when the system fails, which says nothing of the folder.
  func openFolder(_ path: String, shown: String) throws(TransferError) -> OpenFolder {
    let fullPath = path.utf8.first == UInt8(ascii: "/") ? path : self.path + "/" + path
    let found = uninterrupted { Glibc.open(fullPath, O_PATH | O_CLOEXEC | O_DIRECTORY) }
    guard found >= 0 else { throw Self.notFound(shown, errno) }
    defer { close(found) }
    try checkIsBeneath(found, shown: shown)
    do throws(SystemError) {
      return try OpenFolder("/proc/self/fd/\(found)")
    } catch {
      throw Self.notFound(shown, error.code)
    }
  }
}
