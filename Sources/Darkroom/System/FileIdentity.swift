import Glibc

/// What tells that a file is still the one that was seen: device, inode, size, mtime and ctime.
package struct FileIdentity: Sendable, Hashable {
  package let device: UInt
  package let inode: UInt
  package let size: Int
  /// Nanoseconds since 1970.
  package let modified: Int
  /// Nanoseconds since 1970.
  package let changed: Int

  package init(_ status: stat) {
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
    size = Int(status.st_size)
    modified = status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
    changed = status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec
  }

  /// The form that is kept in the ledger.
  package var text: String { "\(device) \(inode) \(size) \(modified) \(changed)" }
}
