import CLinux
import Glibc

/// A folder that is held open. Operations through it never leave it, whatever others change meanwhile: no symbolic link and
/// no `..` is followed. Folders beneath it are resolved by the kernel in one call (`openat2`, Linux 5.6) or, where that is
/// missing, in steps with `O_NOFOLLOW`.
///
/// Names are single components unless a parameter is called `path`; paths are relative. Methods throw `SystemError`, with
/// `ELOOP` or `ENOTDIR` for a symbolic link in the way of a folder.
package final class OpenFolder: Sendable {
  /// How folders beneath it are resolved.
  package enum Resolution: Sendable { case kernel, steps }

  package let descriptor: Int32

  /// For messages.
  package let path: String
  private let resolution: Resolution

  private init(adopting descriptor: Int32, path: String, _ resolution: Resolution) throws(SystemError) {
    guard descriptor >= 0 else { throw SystemError("open", path, isFolder: true) }
    self.descriptor = descriptor
    self.path = path
    self.resolution = resolution
  }

  /// Opens a folder that the operator named: symbolic links in the path are followed.
  package convenience init(_ path: String, resolution: Resolution = .kernel) throws(SystemError) {
    let opened = uninterrupted { Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    try self.init(adopting: opened, path: path, resolution)
  }

  /// Opens a folder that the operator named, only for opening what is beneath it: it need not be readable itself.
  package convenience init(searching path: String) throws(SystemError) {
    let opened = uninterrupted { Glibc.open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) }
    try self.init(adopting: opened, path: path, .kernel)
  }

  deinit { close(descriptor) }

  package func status() throws(SystemError) -> FileStatus {
    var status = stat()
    guard uninterrupted({ fstat(descriptor, &status) }) == 0 else { throw SystemError("fstat", path) }
    return FileStatus(status)
  }

  /// `fsync`.
  package func sync() throws(SystemError) {
    guard uninterrupted({ fsync(descriptor) }) == 0 else { throw SystemError("fsync", path) }
  }

  private func file(_ name: String) -> String { path + "/" + name }

  // MARK: Folders beneath it

  /// Opens a folder beneath it; itself for an empty path.
  package func folder(_ path: String) throws(SystemError) -> OpenFolder {
    if path.isEmpty { return self }
    let opened = openBeneath(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK)
    return try OpenFolder(adopting: opened, path: file(path), resolution)
  }

  /// Opens a folder beneath it, and creates those that are missing.
  /// - Returns: The folder, and the paths of those that got a new entry and must be synced to keep it, outermost
  ///   first.
  package func create(
    _ path: String, mode: mode_t = 0o777
  ) throws(SystemError) -> (folder: OpenFolder, changed: [String]) {
    var changed: [String] = []
    return (try create(path, mode: mode, changed: &changed), changed)
  }

  /// Opens a folder beneath it, and creates those that are missing.
  /// - Parameter changed: Gets the paths of folders that got a new entry and must be synced to keep it, outermost first; also
  ///   when an error is thrown.
  package func create(
    _ path: String, mode: mode_t = 0o777, changed: inout [String]
  ) throws(SystemError) -> OpenFolder {
    do {
      return try folder(path)
    } catch  where error.code == ENOENT {}
    var reached = self
    for name in path.fields("/") {
      reached = try reached.step(creating: name, mode: mode, changed: &changed)
    }
    return reached
  }

  private func step(
    creating name: String, mode: mode_t, changed: inout [String]
  ) throws(SystemError) -> OpenFolder {
    let isNew = uninterrupted { mkdirat(descriptor, name, mode) } == 0
    guard isNew || errno == EEXIST else { throw SystemError("mkdir", file(name)) }
    if isNew { changed.append(path) }
    return try folder(name)
  }

  /// - Returns: A descriptor, or -1 with `errno`.
  private func openBeneath(_ path: String, _ flags: Int32) -> Int32 {
    if resolution == .kernel {
      // A concurrent rename may require another attempt.
      for _ in 0..<16 {
        let opened = uninterrupted { clinux_open_beneath(descriptor, path, flags | O_CLOEXEC) }
        if opened >= 0 { return opened }
        if errno != EAGAIN { break }
      }
      // Sandboxes that do not know the call answer with EPERM.
      guard errno == ENOSYS || errno == EPERM else { return -1 }
    }
    return openInSteps(path.fields("/")[...], from: descriptor, flags)
  }

  private func openInSteps(_ names: ArraySlice<String>, from folder: Int32, _ flags: Int32) -> Int32 {
    guard let name = names.first, name != ".." else {
      errno = names.isEmpty ? ENOENT : EXDEV
      return -1
    }
    let isLast = names.count == 1
    let step = (isLast ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC
    let opened = uninterrupted { openat(folder, name, step) }
    if isLast || opened < 0 { return opened }
    defer {
      let code = errno
      close(opened)
      errno = code
    }
    return openInSteps(names.dropFirst(), from: opened, flags)
  }

  // MARK: Files

  /// Opens a file beneath it for reading; never waits for a pipe's writer.
  package func open(reading path: String) throws(SystemError) -> OpenFile {
    try opened(openBeneath(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW), path)
  }

  /// Creates a file that must not exist yet, open for reading and writing.
  package func create(file name: String, mode: mode_t = 0o666) throws(SystemError) -> OpenFile {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    return try opened(uninterrupted { openat(descriptor, name, flags, mode) }, name)
  }

  /// Opens a regular file for appending or, if it may be missing, creates it.
  package func open(appending name: String, mode: mode_t = 0o666) throws(SystemError) -> OpenFile {
    try regular(name, O_WRONLY | O_CREAT | O_APPEND, mode)
  }

  /// Opens a regular file for reading and writing; creates it when missing, and keeps its contents.
  package func open(updating name: String, mode: mode_t = 0o666) throws(SystemError) -> OpenFile {
    try regular(name, O_RDWR | O_CREAT, mode)
  }

  /// Opens an existing regular file for reading and writing, and keeps its contents.
  package func open(updatingExisting name: String) throws(SystemError) -> OpenFile { try regular(name, O_RDWR, 0) }

  /// Creates a nameless file, which disappears when it is closed unless it is given a name.
  /// - Throws: Also where the file system has no such files.
  package func createNameless(mode: mode_t = 0o600) throws(SystemError) -> OpenFile {
    try opened(uninterrupted { clinux_create_nameless(descriptor, mode) }, path: path)
  }

  /// Creates a file that disappears when it is closed, also where the file system has no nameless files.
  package func createTemporary() throws(SystemError) -> OpenFile {
    if let nameless = try? createNameless() { return nameless }
    let name = "darkroom-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    let file = try create(file: name, mode: 0o600)
    try remove(name)
    return file
  }

  private func regular(_ name: String, _ flags: Int32, _ mode: mode_t) throws(SystemError) -> OpenFile {
    let safe = flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let file = try opened(uninterrupted { openat(descriptor, name, safe, mode) }, name)
    guard try file.status().kind == .file else { throw SystemError("open", file.path, code: EINVAL) }
    return file
  }

  private func opened(_ descriptor: Int32, _ name: String) throws(SystemError) -> OpenFile {
    try opened(descriptor, path: file(name))
  }

  private func opened(_ descriptor: Int32, path: String) throws(SystemError) -> OpenFile {
    guard descriptor >= 0 else { throw SystemError("open", path) }
    return OpenFile(adopting: descriptor, path: path)
  }

  /// The status of a path, of a symbolic link itself; nil when nothing is there. For a name, it takes one call.
  /// - Throws: Also when a folder on the way is something else.
  package func status(of path: String) throws(SystemError) -> FileStatus? {
    var status = stat()
    if !path.utf8.contains(UInt8(ascii: "/")) {
      if uninterrupted({ fstatat(descriptor, path, &status, AT_SYMLINK_NOFOLLOW) }) == 0 { return FileStatus(status) }
      if errno == ENOENT { return nil }
      throw SystemError("fstatat", file(path))
    }
    let opened = openBeneath(path, O_PATH | O_NOFOLLOW)
    if opened < 0, errno == ENOENT { return nil }
    return try self.opened(opened, path).status()
  }

  /// Whether files can be renamed from here to a folder in it: it is on the same file system, and no mount of its own.
  /// - Parameter name: Of something that exists. A symbolic link is not followed.
  package func isOnSameMount(_ name: String) throws(SystemError) -> Bool {
    let answer = uninterrupted { clinux_is_same_mount(descriptor, name) }
    guard answer >= 0 else { throw SystemError("statx", file(name)) }
    return answer == 1
  }

  /// Whether a file may be read by this process's user; true for a missing one.
  /// - Throws: When that is unknown.
  package func mayRead(_ name: String) throws(SystemError) -> Bool {
    if uninterrupted({ faccessat(descriptor, name, R_OK, 0) }) == 0 || errno == ENOENT { return true }
    let failure = SystemError("faccessat", file(name))
    if failure.cause == .permission { return false }
    throw failure
  }

  /// Sets the permissions of the folder, whatever the umask.
  package func setMode(_ mode: mode_t) throws(SystemError) {
    guard uninterrupted({ fchmod(descriptor, mode) }) == 0 else { throw SystemError("fchmod", path) }
  }

  /// Whether a path is that of a regular file with these contents. A symbolic link is not.
  /// - Parameter sha256: In lower-case hexadecimal.
  /// - Throws: `SystemError` when the file cannot be examined.
  package func holds(_ path: String, bytes: Int, sha256: String) throws(SystemError) -> Bool {
    do {
      let file = try open(reading: path)
      let status = try file.status()
      guard status.kind == .file, status.size == bytes else { return false }
      return try MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: file.path) == sha256
    } catch  where error.cause == .permission {
      // Not when its folder cannot be searched now: the file may be fine.
      _ = try self.status(of: path)
      return false
    } catch  where [.missing, .occupied].contains(error.cause) || error.code == ENXIO {
      return false
    }
  }
}
