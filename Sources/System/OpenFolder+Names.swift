import CLinux
import Glibc

/// Names in an open folder that are given, changed and taken away.
extension OpenFolder {
  /// Renames a file, over whatever has the new name.
  package func rename(_ name: String, to folder: OpenFolder, as newName: String) throws(SystemError) {
    guard uninterrupted({ renameat(descriptor, name, folder.descriptor, newName) }) == 0 else {
      throw failure("rename", newName, folder)
    }
  }

  /// As `Folder.renameWithoutReplacing`.
  package func renameWithoutReplacing(
    _ name: String, to folder: OpenFolder, as newName: String
  ) throws(SystemError) -> Bool {
    try Folder.renameWithoutReplacing(
      descriptor, name, to: folder.descriptor, newName, path: folder.path + "/" + newName)
  }

  /// Exchanges the files of two names in the folder.
  /// - Throws: On file systems that cannot do it, too.
  package func exchange(_ name: String, with other: String) throws(SystemError) {
    guard uninterrupted({ clinux_exchange(descriptor, name, descriptor, other) }) == 0 else {
      throw failure("renameat2", other, self)
    }
  }

  /// Gives a file from elsewhere a name here, too. Its path may be a symbolic link's by now, which is not followed.
  /// - Returns: Whether the name is there now; `errno` tells why not.
  package func link(_ path: String, as name: String) -> Bool {
    uninterrupted { linkat(AT_FDCWD, path, descriptor, name, 0) } == 0
  }

  /// Gives a file from elsewhere a name here, too, or a copy where that is refused. Its path may be a symbolic link's by now,
  /// which is not followed.
  /// - Returns: Whether the name is there now, with the whole file; `errno` tells why not.
  package func link(_ path: String, orCopyTo name: String) -> Bool {
    if link(path, as: name) { return true }
    guard [EPERM, ENOTSUP, ENOSYS, EMLINK, EXDEV].contains(errno) else { return false }
    do {
      try OpenFile(reading: path, followingLinks: false).copy(to: create(file: name, mode: 0o600))
      return true
    } catch {
      if error.code != EEXIST { _ = uninterrupted { unlinkat(descriptor, name, 0) } }
      errno = error.code
      return false
    }
  }

  /// Dates a file now. It is no error when that fails.
  package func touch(_ name: String) { _ = utimensat(descriptor, name, nil, AT_SYMLINK_NOFOLLOW) }

  /// Gives a file without a name one that is not taken. Needs `/proc`.
  package func name(_ file: OpenFile, as name: String) throws(SystemError) {
    let path = "/proc/self/fd/\(file.descriptor)"
    guard uninterrupted({ linkat(AT_FDCWD, path, descriptor, name, AT_SYMLINK_FOLLOW) }) == 0 else {
      throw failure("link", name, self)
    }
  }

  /// Removes a file; one that is not there is no error.
  package func remove(_ name: String) throws(SystemError) {
    guard uninterrupted({ unlinkat(descriptor, name, 0) }) == 0 || errno == ENOENT else {
      throw failure("unlink", name, self)
    }
  }

  /// Removes a folder, which must be empty; one that is not there is no error.
  package func removeFolder(_ name: String) throws(SystemError) {
    guard uninterrupted({ unlinkat(descriptor, name, AT_REMOVEDIR) }) == 0 || errno == ENOENT else {
      throw failure("rmdir", name, self)
    }
  }

  /// Writes a file in one step: under its name there is the old text or the whole new one. It is not synced.
  /// - Parameter mode: Less the umask.
  package func replace(_ name: String, with text: String, mode: mode_t) throws(SystemError) {
    let written = name + ".new"
    try remove(written)
    do {
      try create(file: written, mode: mode).write(text)
      try rename(written, to: self, as: name)
    } catch {
      // On a full disk it takes room that others need.
      try? remove(written)
      throw error
    }
  }

  /// Removes a folder, if it is empty.
  package func removeIfEmpty(_ name: String) { _ = uninterrupted { unlinkat(descriptor, name, AT_REMOVEDIR) } }

  /// The names in it, as bytes, in no order.
  package func names() throws(SystemError) -> [FileName] { try Folder.names(in: self) }

  /// Whether something in the folder is this process's: its user's or, where the file system gives new files to another user,
  /// as some shares do, that user's.
  package func isOurs(_ status: FileStatus) -> Bool {
    if status.owner == geteuid() { return true }
    let probe = ".darkroom-owner-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    guard let file = try? create(file: probe, mode: 0o600) else { return false }
    defer { _ = uninterrupted { unlinkat(descriptor, probe, 0) } }
    return (try? file.status().owner) == status.owner
  }

  private func failure(_ operation: String, _ name: String, _ folder: OpenFolder) -> SystemError {
    SystemError(operation, folder.path + "/" + name)
  }
}
