import CLinux
import Glibc

/// Opens files beneath one folder, and nowhere else.
struct FileRoot {
  /// The folder as it was configured.
  let path: String

  /// An open regular file.
  struct Opened: ~Copyable {
    /// Open for reading; closed with the value.
    let descriptor: Int32

    /// Its size in bytes when it was opened.
    let size: Int

    deinit { close(descriptor) }
  }

  /// Opens a file for reading. Symbolic links are resolved; what they lead to has to lie beneath the folder.
  ///
  /// The file is looked up without being opened (`O_PATH`), so that neither a pipe nor a device notices; what was found
  /// is checked by its real path (`/proc/self/fd`), and then that very file is opened. So nothing that is renamed or
  /// linked in the meantime can lead out of the folder.
  /// - Throws: `file-not-found` for what is missing, unreadable, or not a regular file; `address-not-allowed` for what
  ///   lies elsewhere.
  func open(_ location: SourceLocation) throws(TransferError) -> Opened {
    let shown = location.redacted
    let asked = location.requestText
    let wanted = asked.utf8.first == UInt8(ascii: "/") ? asked : path + "/" + asked
    let found = Glibc.open(wanted, O_PATH | O_CLOEXEC)
    guard found >= 0 else { throw Self.notFound(shown, errno) }
    defer { close(found) }

    guard let real = Self.link("/proc/self/fd/\(found)"), let root = Self.realPath(of: path) else {
      throw TransferError(.fileNotFound, "\(shown) or the file root \(path) cannot be resolved")
    }
    guard real == root || real.utf8.starts(with: (root == "/" ? root : root + "/").utf8) else {
      throw TransferError(.addressNotAllowed, "\(shown) does not lie beneath --file-root \(path)")
    }
    var status = stat()
    guard fstat(found, &status) == 0 else { throw Self.notFound(shown, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let kind = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "a special file"
      throw TransferError(.fileNotFound, "\(shown) is \(kind), not a regular file")
    }
    let descriptor = Glibc.open("/proc/self/fd/\(found)", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw Self.notFound(shown, errno) }
    return Opened(descriptor: descriptor, size: Int(status.st_size))
  }

  private static func notFound(_ shown: String, _ number: Int32) -> TransferError {
    TransferError(.fileNotFound, "\(shown): \(systemMessage(number))", systemError: number)
  }

  private static func link(_ path: String) -> String? {
    let target = String(unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer in
      guard let start = buffer.baseAddress else { return 0 }
      return max(0, readlink(path, UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self), buffer.count))
    }
    return target.isEmpty ? nil : target
  }

  private static func realPath(of path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
