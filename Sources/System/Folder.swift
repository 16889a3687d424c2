import CLinux
import Foundation

/// Operations on folders and on names in them. They throw `SystemError`.
package enum Folder {
  /// Creates a folder and those above it.
  /// - Returns: The folders that got a new entry and must be synced to keep it, outermost first.
  @discardableResult
  package static func create(_ path: String, mode: mode_t = 0o777) throws(SystemError) -> [String] {
    var changed: [String] = []
    try create(path, beneath: nil, mode: mode, changed: &changed)
    return changed
  }

  /// Creates a folder and those above it.
  /// - Parameters:
  ///   - root: A folder above it that is not created: it is an error when it is missing, as when a share is not mounted.
  ///   - changed: Gets the folders that got a new entry and must be synced to keep it, outermost first; also when an error
  ///     is thrown.
  package static func create(
    _ path: String, beneath root: String?, mode: mode_t = 0o777, changed: inout [String]
  ) throws(SystemError) {
    if uninterrupted({ mkdir(path, mode) }) == 0 { return changed.append(parent(of: path)) }
    switch errno {
    case EEXIST:
      // A symbolic link to a folder is accepted, as by mkdir -p.
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

  /// Creates a folder and those above it, and syncs the changed folders.
  package static func createDurably(_ path: String, mode: mode_t) throws(SystemError) {
    for changed in try create(path, mode: mode) { try sync(changed) }
  }

  /// The last component of a path.
  package static func name(of path: String) -> String {
    path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
  }

  /// The path without its last component.
  package static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The path from a folder to what lies beneath it: empty for the folder itself, nil for what lies elsewhere.
  package static func path(_ path: String, in folder: String) -> String? {
    if path.isIdentical(to: folder) { return "" }
    let prefix = folder == "/" ? folder : folder + "/"
    return path.begins(with: prefix) ? path.dropping(bytesOf: prefix) : nil
  }

  package static func sync(_ path: String) throws(SystemError) { try OpenFile(folder: path).sync() }

  /// The names in a folder but `.` and `..`, as bytes, in no order.
  package static func names(in path: String) throws(SystemError) -> [FileName] { try names(in: OpenFolder(path)) }

  /// The names in an open folder but `.` and `..`, as bytes, in no order.
  package static func names(in folder: OpenFolder) throws(SystemError) -> [FileName] {
    let path = folder.path
    // The stream closes its descriptor and changes its position: so it gets its own.
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

  /// Renames unless the new name exists: `renameat2` with `RENAME_NOREPLACE`, or `link` and `unlink` where the file system
  /// refuses the flag.
  /// - Returns: Whether it was renamed.
  package static func renameWithoutReplacing(_ from: String, to target: String) throws(SystemError) -> Bool {
    try renameWithoutReplacing(AT_FDCWD, from, to: AT_FDCWD, target, path: target)
  }

  /// The same for names in open folders.
  /// - Parameter path: The new name in errors.
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

  /// Gives a file a second name, or copies it where the file system refuses that or is another one.
  /// - Returns: Whether the name now exists with the whole file; if not, `errno` has the reason.
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

  /// Removes a file; a missing one is no error.
  package static func removeFile(_ path: String) throws(SystemError) {
    guard uninterrupted({ unlink(path) }) == 0 || errno == ENOENT else { throw SystemError("unlink", path) }
  }

  /// The absolute path of a folder, without symbolic links (`realpath`).
  package static func resolved(_ path: String) throws(SystemError) -> String {
    while true {
      if let real = realpath(path, nil) {
        defer { free(real) }
        return String(cString: real)
      }
      if errno != EINTR { throw SystemError("realpath", path, isFolder: true) }
    }
  }

  /// The path of a folder once it and the missing ones above it are created: absolute, with the symbolic links of existing
  /// ones resolved.
  package static func resolvedWhenCreated(_ path: String) throws(SystemError) -> String {
    do throws(SystemError) {
      return try resolved(path)
    } catch  where error.code == ENOENT && parent(of: path) != path {
      let name = name(of: path)
      let above = try resolvedWhenCreated(parent(of: path))
      return name.isEmpty || name == "." ? above : (above == "/" ? "/" : above + "/") + name
    }
  }

  /// The bytes available to this process on the file system of a folder.
  package static func freeSpace(_ path: String) throws(SystemError) -> Int {
    var status = statvfs()
    guard uninterrupted({ statvfs(path, &status) }) == 0 else { throw SystemError("statvfs", path, isFolder: true) }
    return bytes(status.f_bavail, of: status.f_frsize)
  }

  /// Whether the file system of a path, existing or not, is mounted read-only; false when that is unknown.
  package static func isReadOnlyMount(_ path: String) -> Bool {
    var (status, path) = (statvfs(), path)
    while uninterrupted({ statvfs(path, &status) }) != 0 {
      let (code, above) = (errno, parent(of: path))
      guard code == ENOENT || code == ENOTDIR, above != path else { return false }
      path = above
    }
    return status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// The bytes that the file system of a folder can hold in total for this process.
  package static func totalSpace(_ path: String) throws(SystemError) -> Int {
    var status = statvfs()
    guard uninterrupted({ statvfs(path, &status) }) == 0 else { throw SystemError("statvfs", path, isFolder: true) }
    return bytes(status.f_blocks, of: status.f_frsize)
  }

  /// Network file systems report numbers of blocks that overflow: they have as much space as can be told.
  static func bytes(_ blocks: UInt, of blockSize: UInt) -> Int {
    let (bytes, overflows) = Int(clamping: blocks).multipliedReportingOverflow(by: Int(clamping: blockSize))
    return overflows ? .max : bytes
  }
}
