import CLinux
import Glibc

/// Creating, renaming and removing names in an open folder.
extension OpenFolder {
  /// Renames a file, replacing any file with the new name.
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
  /// - Throws: Also on file systems that cannot do it.
  package func exchange(_ name: String, with other: String) throws(SystemError) {
    guard uninterrupted({ clinux_exchange(descriptor, name, descriptor, other) }) == 0 else {
      throw failure("renameat2", other, self)
    }
  }

  /// Gives a file from elsewhere an additional name here. If its path has become a symbolic link, the link is not followed.
  /// - Returns: Whether the name exists now; if not, `errno` has the reason.
  package func link(_ path: String, as name: String) -> Bool {
    uninterrupted { linkat(AT_FDCWD, path, descriptor, name, 0) } == 0
  }

  /// Gives a file from elsewhere an additional name here, or copies it where that is refused. If its path has become a symbolic
  /// link, the link is not followed.
  /// - Returns: Whether the name now exists with the whole file; if not, `errno` has the reason.
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

  /// Sets a file's times to now. A failure is ignored.
  package func touch(_ name: String) { _ = utimensat(descriptor, name, nil, AT_SYMLINK_NOFOLLOW) }

  /// Gives a nameless file a name that is free. Needs `/proc`.
  package func name(_ file: OpenFile, as name: String) throws(SystemError) {
    let path = "/proc/self/fd/\(file.descriptor)"
    guard uninterrupted({ linkat(AT_FDCWD, path, descriptor, name, AT_SYMLINK_FOLLOW) }) == 0 else {
      throw failure("link", name, self)
    }
  }

  /// Removes a file; a missing one is no error.
  package func remove(_ name: String) throws(SystemError) {
    guard uninterrupted({ unlinkat(descriptor, name, 0) }) == 0 || errno == ENOENT else {
      throw failure("unlink", name, self)
    }
  }

  /// Removes a folder, which must be empty; a missing one is no error.
  package func removeFolder(_ name: String) throws(SystemError) {
    guard uninterrupted({ unlinkat(descriptor, name, AT_REMOVEDIR) }) == 0 || errno == ENOENT else {
      throw failure("rmdir", name, self)
    }
  }

  /// Writes a file atomically: its name has the old text or the whole new one. It is not synced.
  /// - Parameter mode: Less the umask.
  package func replace(_ name: String, with text: String, mode: mode_t) throws(SystemError) {
    let written = name + ".new"
    try remove(written)
    do {
      try create(file: written, mode: mode).write(text)
      try rename(written, to: self, as: name)
    } catch {
      // On a full disk it takes space that others need.
      try? remove(written)
      throw error
    }
  }

  /// Removes a folder if it is empty.
  package func removeIfEmpty(_ name: String) { _ = uninterrupted { unlinkat(descriptor, name, AT_REMOVEDIR) } }

  /// The names in it, as bytes, in no order.
  package func names() throws(SystemError) -> [FileName] { try Folder.names(in: self) }

  /// Whether something in the folder belongs to this process's user or, where the file system gives new files to another user,
  /// as some shares do, to that one.
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
