import CLinux
import Glibc
import Model
import Synchronization
import System

/// The right to be the one instance on a folder. The kernel releases it when the process dies.
///
/// It is the lock of a file in the folder that only its owner may open: who may only read a file could hold its lock, too.
/// The folder itself is locked besides, so that no second instance begins when the file is removed. Anybody who may read the
/// folder can do that; so it counts only if the process that holds it is an instance of this user or of root.
package final class InstanceLock: Sendable {
  /// Why the lock's file is not to be had; the folder is locked all the same.
  let trouble: String?

  /// What the file begins with: the process's id and what no other process has written. It always has the same length, so
  /// that a process that dies while it writes it leaves the notes as they were.
  private let head = InstanceLock.makeHead()

  /// So many bytes of the file are read at most.
  private static let sizeLimit = 4096

  private let noted: Mutex<String>
  private let name: String
  private let folder: OpenFolder
  private let file: OpenFile?

  /// Takes the lock.
  /// - Parameters:
  ///   - name: Of the file.
  ///   - owned: What messages say is owned; nil for the folder.
  ///   - isHostile: Whether others may write to the folder: then something else of the file's name is no error.
  /// - Throws: `StopError.busy` when another process holds it; `SystemError`.
  package init(_ name: String, in folder: OpenFolder, of owned: String? = nil, isHostile: Bool = false) throws {
    self.name = name
    self.folder = folder
    if let holder = try FolderLock.take(folder) {
      throw StopError.busy(folder: owned ?? folder.path, process: holder)
    }
    do throws(SystemError) {
      file = try InstanceFile(name, in: folder).lock()
      trouble = nil
    } catch  where error.code == EBUSY {
      let file = try? folder.open(reading: name)
      throw StopError.busy(folder: owned ?? folder.path, process: file.flatMap(Self.process))
    } catch {
      guard isHostile, (try? folder.status(of: name)) != nil else { throw error }
      (file, trouble) = (nil, "\(error)")
    }
    noted = Mutex(try file.map(Self.notes(of:)) ?? "")
    try file?.replaceContents(with: text)
  }

  private static func makeHead() -> String {
    let process = "\(getpid())"
    return process + "\n" + RunID.make() + String(repeating: " ", count: max(0, 10 - process.utf8.count)) + "\n"
  }

  private var text: String { head + notes }

  /// Lines that processes have noted in the file for later ones.
  var notes: String { noted.withLock { $0 } }

  /// Notes lines in the file for later processes, in place of those that it had. They last when this returns.
  /// - Throws: `SystemError`; then they are not noted, or may not last.
  func note(_ lines: String) throws(SystemError) {
    guard let file, lines != notes else { return }
    try file.replaceContents(with: head + lines)
    noted.withLock { $0 = lines }
    try file.sync()
  }

  /// The lines that processes have noted in an instance file.
  package static func notes(of file: OpenFile) throws(SystemError) -> String {
    let text = String(decoding: try file.readStart(sizeLimit), as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).joined(separator: "\n")
  }

  /// Whether a folder is the one that was locked, whatever its device and inode are now.
  func isHeld(in other: OpenFolder) -> Bool {
    guard file != nil, let found = try? other.open(reading: name), let status = try? found.status(),
      status.kind == .file, other.isOurs(status)
    else { return false }
    return (try? found.readStart(Self.sizeLimit)) == Array(text.utf8)
  }

  /// The process that holds a lock; nil when none does.
  /// - Parameters:
  ///   - path: Of the lock's file, beneath a folder.
  ///   - folder: The folder's path, in which symbolic links are followed.
  /// - Throws: `SystemError` when that cannot be told.
  package static func holder(file path: String, beneath folder: String) throws(SystemError) -> Int? {
    do {
      let file = try OpenFolder(searching: folder).open(reading: path)
      return try file.lockHolder() == .writer ? process(file) ?? 0 : nil
    } catch  where error.cause == .missing || error.cause == .occupied {
      return nil
    }
  }

  private static func process(_ file: OpenFile) -> Int? {
    (try? file.readStart(32)).flatMap { Int(String(decoding: $0.prefix { $0 != 0x0a }, as: UTF8.self)) }
  }
}

/// The lock of a folder itself (`flock`), as far as it is held by instances of this program.
enum FolderLock {
  /// Takes the lock, which is held until the folder is closed.
  /// - Returns: The process that holds it, if that is an instance; nil when there is none, also when the lock could not be
  ///   had, as on some shares.
  static func take(_ folder: OpenFolder) throws(SystemError) -> Int? {
    while clinux_lock_folder(folder.descriptor) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK:
        let status = try folder.status()
        return processes(inode: status.identity.inode).first { isInstance($0, holding: status) }
      default: return nil
      }
    }
    return nil
  }

  /// The processes that hold such a lock of something with an inode number. Lines of `/proc/locks` look like
  /// `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`.
  private static func processes(inode: UInt) -> [Int] {
    guard let data = try? OpenFile(reading: "/proc/locks").readAll() else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count >= 6, fields[1] == "FLOCK", fields[5].split(separator: ":").last.map(String.init) == "\(inode)"
      else { return nil }
      return Int(fields[4])
    }
  }

  /// Whether a process is one of this program, of this user or of root, that has a folder open.
  private static func isInstance(_ process: Int, holding folder: FileStatus) -> Bool {
    let path = "/proc/\(process)"
    guard let owner = try? FileStatus(of: path).owner, owner == geteuid() || owner == 0,
      let name = try? OpenFile(reading: path + "/comm").readAll(),
      name == (try? OpenFile(reading: "/proc/self/comm").readAll())
    else { return false }
    // Another file system may have the same inode number. Root's descriptors cannot be looked at.
    guard let descriptors = try? Folder.names(in: path + "/fd") else { return owner == 0 }
    return descriptors.contains { descriptor in
      var status = stat()
      guard uninterrupted({ stat("\(path)/fd/\(descriptor.description)", &status) }) == 0 else { return false }
      return FileStatus(status).identity.isSameNode(as: folder.identity)
    }
  }
}
