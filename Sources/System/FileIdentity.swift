import Glibc

/// What tells that a file is still the one that was seen: device, inode, size, mtime and ctime.
package struct FileIdentity: Sendable, Hashable {
  /// A file's time, as far from 1970 as a file system has it.
  package struct Time: Sendable, Hashable, Comparable {
    package let seconds: Int
    package let nanoseconds: Int

    init(_ time: timespec) {
      seconds = time.tv_sec
      nanoseconds = time.tv_nsec
    }

    /// Seconds since 1970.
    package var sinceEpoch: Double { Double(seconds) + Double(nanoseconds) / 1e9 }

    package static func < (a: Time, b: Time) -> Bool { (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds) }
  }

  package let device: UInt
  package let inode: UInt
  package let size: Int
  package let modified: Time
  package let changed: Time

  package init(_ status: stat) {
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
    size = Int(status.st_size)
    modified = Time(status.st_mtim)
    changed = Time(status.st_ctim)
  }

  /// Whether they are of one file or folder, whatever has been done to it since.
  package func isSameNode(as other: FileIdentity) -> Bool { (device, inode) == (other.device, other.inode) }

  /// The form that is kept in the ledger. The device is left out: its number may be another after a restart.
  package var text: String {
    "\(inode) \(size) \(modified.seconds).\(modified.nanoseconds) \(changed.seconds).\(changed.nanoseconds)"
  }

  /// When a file was last changed (its ctime), by the form that is kept in the ledger: seconds since 1970.
  /// - Returns: nil for a text of another form.
  package static func changed(inText text: String) -> Double? { text.split(separator: " ").last.flatMap { Double($0) } }
}
