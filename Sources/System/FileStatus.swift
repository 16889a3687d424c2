import Glibc

/// The result of `stat`.
package struct FileStatus: Sendable {
  package enum Kind: Sendable { case file, folder, link, pipe, device, socket, other }

  package let kind: Kind
  package let identity: FileIdentity

  package let owner: uid_t

  package let group: Int

  /// The number of its names.
  package let links: Int

  /// Its permissions: the lower twelve bits of `st_mode`.
  package let mode: Int

  /// Whether others than its owner may read, write or execute it.
  package var isOpenToOthers: Bool { mode & 0o077 != 0 }

  package var size: Int { identity.size }

  package init(_ status: stat) {
    identity = FileIdentity(status)
    owner = status.st_uid
    links = Int(status.st_nlink)
    group = Int(status.st_gid)
    mode = Int(status.st_mode & 0o7777)
    kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      case S_IFIFO: .pipe
      case S_IFBLK, S_IFCHR: .device
      case S_IFSOCK: .socket
      default: .other
      }
  }

  /// `lstat`: of a symbolic link itself.
  package init(of path: String) throws(SystemError) {
    var status = stat()
    guard uninterrupted({ lstat(path, &status) }) == 0 else { throw SystemError("lstat", path) }
    self.init(status)
  }

  /// Whether something exists at a path, even a symbolic link that leads nowhere.
  /// - Throws: `SystemError` when that is unknown.
  package static func exists(_ path: String) throws(SystemError) -> Bool {
    do {
      _ = try FileStatus(of: path)
      return true
    } catch  where error.code == ENOENT || error.code == ENOTDIR {
      return false
    }
  }

  /// `fstatat`: of a name in an open folder, of a symbolic link itself.
  /// - Returns: nil when the name does not exist.
  package init?(of name: FileName, in folder: OpenFolder) throws(SystemError) {
    var status = stat()
    let result = uninterrupted {
      name.withCString { fstatat(folder.descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }
    }
    guard result == 0 else {
      if errno == ENOENT { return nil }
      throw SystemError("fstatat", folder.path + "/" + name.description)
    }
    self.init(status)
  }
}

/// Identifies an unchanged file: device, inode, size, mtime and ctime.
package struct FileIdentity: Sendable, Hashable {
  /// A file's time, in the precision of the file system.
  package struct Time: Sendable, Hashable, Comparable {
    package let seconds: Int
    package let nanoseconds: Int

    init(_ time: timespec) {
      seconds = time.tv_sec
      nanoseconds = time.tv_nsec
    }

    /// Seconds since 1970.
    package var sinceEpoch: Double { Double(seconds) + Double(nanoseconds) / 1e9 }

    /// Milliseconds since 1970. Anybody may give a file any time: times outside the years 1 to 9999 are the nearest in them.
    package var milliseconds: Int {
      min(max(seconds, -62_135_596_800), 253_402_300_799) * 1000 + nanoseconds / 1_000_000
    }

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

  /// Whether both belong to one file or folder, however it has changed since.
  package func isSameNode(as other: FileIdentity) -> Bool { (device, inode) == (other.device, other.inode) }

  /// The text that is stored in the ledger. The device is left out: its number may change with a restart.
  package var text: String {
    "\(inode) \(size) \(modified.seconds).\(modified.nanoseconds) \(changed.seconds).\(changed.nanoseconds)"
  }

  /// When a file was last changed (its ctime), from the text stored in the ledger: seconds since 1970.
  /// - Returns: nil for a text of another form.
  package static func changed(inText text: String) -> Double? { text.fields(" ").last.flatMap { Double($0) } }
}
