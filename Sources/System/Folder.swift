import CLinux
import Foundation

/// Operations on folders and on names in them. They throw `SystemError`.
package enum Folder {
  /// Creates a folder and those above it.
  /// - Returns: The folders that got a new name in them and are to be synced for it to last, outermost first.
  @discardableResult
  package static func create(_ path: String, mode: mode_t = 0o777) throws(SystemError) -> [String] {
    var changed: [String] = []
    try create(path, beneath: nil, mode: mode, changed: &changed)
    return changed
  }

  /// Creates a folder and those above it.
  /// - Parameters:
  ///   - root: A folder above it that is not created: when it is missing, as when a share is not mounted, that is an error.
  ///   - changed: Gets the folders that got a new name in them and are to be synced for it to last, outermost first; also
  ///     when an error is thrown.
  package static func create(
    _ path: String, beneath root: String?, mode: mode_t = 0o777, changed: inout [String]
  ) throws(SystemError) {
    if uninterrupted({ mkdir(path, mode) }) == 0 { return changed.append(parent(of: path)) }
    switch errno {
    case EEXIST:
      // A symbolic link to a folder will do, as it does for mkdir -p.
      var status = stat()
      guard uninterrupted({ stat(path, &status) }) == 0 else {
        let code = errno
        throw SystemError("mkdir", path, code: ErrorCause(errno: code).isOfMachine ? code : ENOTDIR)
      }
      guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError("mkdir", path, code: ENOTDIR) }
    case ENOENT where parent(of: path) != root && parent(of: path) != path:
      try create(parent(of: path), beneath: root, mode: mode, changed: &changed)
      guard uninterrupted({ mkdir(path, mode) }) == 0 || errno == EEXIST else { throw SystemError("mkdir", path) }
      changed.append(parent(of: path))
    default: throw SystemError("mkdir", path)
    }
  }

  /// Creates a folder and those above it, and syncs what got a new name in it.
  /// - Parameter root: As for `create`.
  package static func createDurably(
    _ path: String, beneath root: String? = nil, mode: mode_t = 0o777
  ) throws(SystemError) {
    var changed: [String] = []
    try create(path, beneath: root, mode: mode, changed: &changed)
    for above in changed { try sync(above) }
  }

  /// The last component of a path.
  package static func name(of path: String) -> String {
    String(path[(path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex)...])
  }

  /// What a path has before its last component.
  package static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  package static func sync(_ path: String) throws(SystemError) {
    try OpenFile(folder: path).sync()
  }

  /// The names in a folder but `.` and `..`, as bytes, in no order.
  package static func names(in path: String) throws(SystemError) -> [FileName] {
    try names(in: OpenFolder(path))
  }

  /// The names in an open folder but `.` and `..`, as bytes, in no order.
  package static func names(in folder: OpenFolder) throws(SystemError) -> [FileName] {
    let path = folder.path
    // The stream closes its descriptor, and reads from where that stands: so it gets one of its own.
    let descriptor = uninterrupted { openat(folder.descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw SystemError("open", path) }
    guard let stream = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      throw SystemError("fdopendir", path, code: code)
    }
    defer { closedir(stream) }
    var names: [FileName] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno == EINTR { continue }
        guard errno == 0 else { throw SystemError("readdir", path) }
        return names
      }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { FileName(bytes: Array($0.prefix { $0 != 0 })) }
      if name.bytes != [0x2e] && name.bytes != [0x2e, 0x2e] { names.append(name) }
    }
  }

  package static func rename(_ from: String, to target: String) throws(SystemError) {
    guard uninterrupted({ Glibc.rename(from, target) }) == 0 else { throw SystemError("rename", target) }
  }

  /// Renames unless there is something under the new name: `renameat2` with `RENAME_NOREPLACE`, or `link` and `unlink`
  /// where the file system refuses the flag.
  /// - Returns: Whether it was renamed.
  package static func renameWithoutReplacing(_ from: String, to target: String) throws(SystemError) -> Bool {
    try renameWithoutReplacing(AT_FDCWD, from, to: AT_FDCWD, target, path: target)
  }

  /// The same for names in open folders.
  /// - Parameter path: What errors call the new name.
  static func renameWithoutReplacing(
    _ folder: Int32, _ name: String, to target: Int32, _ newName: String, path: String
  ) throws(SystemError) -> Bool {
    if uninterrupted({ clinux_rename_noreplace(folder, name, target, newName) }) == 0 { return true }
    if errno == EEXIST { return false }
    guard errno == EINVAL || errno == ENOSYS else { throw SystemError("renameat2", path) }
    if uninterrupted({ linkat(folder, name, target, newName, 0) }) != 0 {
      if errno == EEXIST { return false }
      throw SystemError("link", path)
    }
    _ = uninterrupted { unlinkat(folder, name, 0) }
    return true
  }

  /// Gives a file a second name, or a copy where that is refused: by the file system, or because it is another.
  /// - Returns: Whether the name is there now, with the whole file; `errno` tells why not.
  package static func link(_ path: String, orCopyTo target: String) -> Bool {
    if uninterrupted({ Glibc.link(path, target) }) == 0 { return true }
    guard [EPERM, ENOTSUP, ENOSYS, EMLINK, EXDEV].contains(errno) else { return false }
    do {
      try OpenFile(reading: path).copy(to: OpenFile(creating: target, mode: 0o600))
      return true
    } catch {
      if error.code != EEXIST { _ = uninterrupted { unlink(target) } }
      errno = error.code
      return false
    }
  }

  /// Removes a file; one that is not there is no error.
  package static func removeFile(_ path: String) throws(SystemError) {
    guard uninterrupted({ unlink(path) }) == 0 || errno == ENOENT else { throw SystemError("unlink", path) }
  }

  package static func resolved(_ path: String) throws(SystemError) -> String {
    while true {
      if let real = realpath(path, nil) {
        defer { free(real) }
        return String(cString: real)
      }
      if errno != EINTR { throw SystemError("realpath", path) }
    }
  }

  /// The path that a folder will have once it and those above it that are missing are created: absolute, the symbolic links
  /// of those that are there resolved.
  package static func resolvedWhenCreated(_ path: String) throws(SystemError) -> String {
    do throws(SystemError) {
      return try resolved(path)
    } catch  where error.code == ENOENT && parent(of: path) != path {
      let name = name(of: path)
      let above = try resolvedWhenCreated(parent(of: path))
      return name.isEmpty || name == "." ? above : (above == "/" ? "/" : above + "/") + name
    }
  }

  /// The bytes that are free for us on the file system that holds a folder.
  package static func freeSpace(_ path: String) throws(SystemError) -> Int {
    var status = statvfs()
    guard uninterrupted({ statvfs(path, &status) }) == 0 else { throw SystemError("statvfs", path) }
    return Int(status.f_bavail) * Int(status.f_frsize)
  }

  /// Whether the file system that holds something, or would hold it, is mounted read-only; false when that cannot be told.
  package static func isReadOnlyMount(_ path: String) -> Bool {
    var (status, path) = (statvfs(), path)
    while uninterrupted({ statvfs(path, &status) }) != 0 {
      let (code, above) = (errno, parent(of: path))
      guard code == ENOENT || code == ENOTDIR, above != path else { return false }
      path = above
    }
    return status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// How many bytes the file system that holds a folder can hold at most for us.
  package static func totalSpace(_ path: String) throws(SystemError) -> Int {
    var status = statvfs()
    guard uninterrupted({ statvfs(path, &status) }) == 0 else { throw SystemError("statvfs", path) }
    return Int(status.f_blocks) * Int(status.f_frsize)
  }
}
