import Glibc

/// What `stat` says of a file.
package struct FileStatus: Sendable {
  /// What kind of file it is.
  package enum Kind: Sendable { case file, folder, link, pipe, device, socket, other }

  package let kind: Kind
  package let identity: FileIdentity

  /// The user whose file it is.
  package let owner: uid_t

  /// The group whose file it is.
  package let group: Int

  /// How many names it has.
  package let links: Int

  /// Who may read, write and execute it: the lower twelve bits of `st_mode`.
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
  /// - Throws: `SystemError`.
  package init(of path: String) throws(SystemError) {
    var status = stat()
    guard uninterrupted({ lstat(path, &status) }) == 0 else { throw SystemError("lstat", path) }
    self.init(status)
  }

  /// Whether there is something under a path, be it a symbolic link that leads nowhere.
  /// - Throws: `SystemError` when that cannot be told.
  package static func exists(_ path: String) throws(SystemError) -> Bool {
    do {
      _ = try FileStatus(of: path)
      return true
    } catch  where error.code == ENOENT || error.code == ENOTDIR {
      return false
    }
  }

  /// `fstatat`: of a name in an open folder, of a symbolic link itself.
  /// - Returns: nil when there is no such name.
  /// - Throws: `SystemError`.
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
