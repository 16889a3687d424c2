import CLinux
import Glibc
import System

/// A folder beneath which files may be opened.
struct FileRoot {
  /// The folder as configured.
  let path: String

  /// An open regular file.
  struct Opened: ~Copyable {
    /// Open for reading; closed with the value.
    let descriptor: Int32

    /// As it was when it was opened.
    let identity: FileIdentity

    /// In bytes.
    var size: Int { identity.size }

    deinit { close(descriptor) }
  }

  /// Opens a file for reading. Symbolic links are resolved; their target must be beneath the folder.
  ///
  /// The path is looked up without opening the file (`O_PATH`), which has no effect on a pipe or device. The kernel checks that it
  /// stays beneath the folder, or, if it leads out on its way, the real path of the result (`/proc/self/fd`) is checked. The same
  /// file is opened by its descriptor, so that concurrent renames and links cannot lead out of the folder.
  /// - Parameter refused: Folders whose files are not opened.
  /// - Throws: `file-not-found` for a file that is missing, unreadable, or not regular; `address-not-allowed` for one that
  ///   is not beneath the folder, or is in a refused one; `io` when the system fails, and the file may be fine.
  func open(_ location: SourceLocation, notIn refused: [String] = []) throws(TransferError) -> Opened {
    let shown = location.redacted
    let given = location.requestText
    let fullPath = given.utf8.first == UInt8(ascii: "/") ? given : path + "/" + given
    let beneath = refused.isEmpty ? lookUpBeneath(fullPath) : nil
    let found = beneath ?? uninterrupted { Glibc.open(fullPath, O_PATH | O_CLOEXEC) }
    guard found >= 0 else { throw notFound(shown, errno, hint: location.webAddressHint) }
    defer { close(found) }

    if beneath == nil { try checkIsBeneath(found, shown: shown, notIn: refused) }
    var status = stat()
    guard uninterrupted({ fstat(found, &status) }) == 0 else { throw Self.notFound(shown, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let isFolder = status.st_mode & S_IFMT == S_IFDIR
      let lacksSlash = isFolder && given.utf8.last != UInt8(ascii: "/")
      let hint = lacksSlash ? "; as the \"source\" of a manifest it ends in a slash" : ""
      let kind = isFolder ? "a folder" : "a special file"
      throw TransferError(.fileNotFound, "\(shown) is \(kind), not a regular file\(hint)")
    }
    let descriptor = uninterrupted {
      Glibc.open("/proc/self/fd/\(found)", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    }
    guard descriptor >= 0 else { throw Self.notFound(shown, errno) }
    return Opened(descriptor: descriptor, identity: FileIdentity(status))
  }

  /// Looks a path up without leaving the folder on its way.
  /// - Returns: A descriptor of it (`O_PATH`); nil when it leads out, perhaps to come back, and for all errors.
  private func lookUpBeneath(_ fullPath: String) -> Int32? {
    let prefix = path + "/"
    guard fullPath.utf8.starts(with: prefix.utf8) else { return nil }
    // Without ".." and symbolic links a path leads where its text says, so that the root need not be opened.
    if !Self.hasTwoDots(fullPath) {
      let found = uninterrupted { clinux_look_up_without_links(fullPath) }
      if found >= 0 { return found }
    }
    let root = uninterrupted { Glibc.open(path, O_PATH | O_CLOEXEC | O_DIRECTORY) }
    guard root >= 0 else { return nil }
    defer { close(root) }
    let relative = String(Substring(fullPath.utf8.dropFirst(prefix.utf8.count)))
    let found = uninterrupted { clinux_look_up_beneath(root, relative) }
    return found < 0 ? nil : found
  }

  private static func hasTwoDots(_ path: String) -> Bool {
    var previous = UInt8(0)
    for byte in path.utf8 {
      if byte == UInt8(ascii: "."), previous == byte { return true }
      previous = byte
    }
    return false
  }

  /// Throws unless a descriptor's file is the folder or lies beneath it, and in none of the refused folders.
  func checkIsBeneath(_ descriptor: Int32, shown: String, notIn refused: [String] = []) throws(TransferError) {
    guard let real = Self.link("/proc/self/fd/\(descriptor)"), let root = try? Folder.resolved(path) else {
      throw Self.notFound("\(shown) or the file root \(path) cannot be resolved", errno)
    }
    func lies(in folder: String) -> Bool { Folder.path(real, in: folder) != nil }
    guard lies(in: root) else {
      throw TransferError(.addressNotAllowed, "\(shown) does not lie beneath --file-root \(path)")
    }
    // A missing folder has no files.
    for folder in refused where (try? Folder.resolved(folder)).map(lies) == true {
      throw TransferError(
        .addressNotAllowed, "\(shown) lies in \(folder), a folder of this program, and forms may not send its files")
    }
  }

  /// The error of a path that cannot be looked up. Where the root itself is missing, a volume may not be mounted, and nothing is
  /// known of the file.
  private func notFound(_ shown: String, _ number: Int32, hint: String = "") -> TransferError {
    do throws(SystemError) {
      if number == ENOENT { _ = try FileStatus(of: path) }
    } catch {
      let message = "\(shown): the folder of --file-root is missing: \(path); is it mounted?"
      return TransferError(.io, message, systemError: error.code, isOfSource: true)
    }
    return Self.notFound(shown, number, hint: hint)
  }

  static func notFound(_ shown: String, _ number: Int32, hint: String = "") -> TransferError {
    // A missing permission is reported as such; other errors of the machine do not concern the file.
    let cause = ErrorCause(errno: number)
    let isOfFile = !cause.isOfMachine || cause == .permission
    return TransferError(
      isOfFile ? .fileNotFound : .io, "\(shown): \(systemMessage(number))\(isOfFile ? hint : "")", systemError: number,
      isOfSource: true)
  }

  private static func link(_ path: String) -> String? {
    let target = String(unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      return max(0, readlink(path, UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self), buffer.count))
    }
    return target.isEmpty ? nil : target
  }

  /// Opens a folder for listing. Symbolic links are resolved; their target must be beneath the file root.
  /// - Parameters:
  ///   - path: Absolute, or relative to the file root; empty for the file root.
  ///   - shown: Its name in messages.
  /// - Throws: `file-not-found` for a folder that is missing or unreadable, or a file; `address-not-allowed` for one that is not
  ///   beneath the file root; `io` when the system fails, and the folder may be fine.
  func openFolder(_ path: String, shown: String) throws(TransferError) -> OpenFolder {
    let fullPath = path.utf8.first == UInt8(ascii: "/") ? path : self.path + "/" + path
    let found = uninterrupted { Glibc.open(fullPath, O_PATH | O_CLOEXEC | O_DIRECTORY) }
    guard found >= 0 else { throw notFound(shown, errno) }
    defer { close(found) }
    try checkIsBeneath(found, shown: shown)
    do throws(SystemError) {
      return try OpenFolder("/proc/self/fd/\(found)")
    } catch {
      throw Self.notFound(shown, error.code)
    }
  }
}
