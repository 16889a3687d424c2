import CLinux
import Glibc
import Model
import Synchronization
import System

/// The exclusive right of an instance to a folder. The kernel releases it when the process dies.
///
/// It is the lock of a file in the folder that only its owner can open, since a process that can only read a file could
/// lock it too. In addition the folder is locked, so that no second instance starts when the file is removed. Any user
/// who can read the folder could do that, so a lock of the folder counts only when an instance of this user or of root
/// holds it.
package final class InstanceLock: Sendable {
  /// Why the instance file cannot be used; nil when it can. The folder is locked in either case.
  let trouble: String?

  /// The beginning of the file: the process id and a text that is unique to this process. Its length is fixed, so that
  /// a process that dies while writing it leaves the notes intact.
  private let head = InstanceLock.makeHead()

  /// The most bytes of the file that are read.
  private static let sizeLimit = 4096

  private let noted: Mutex<String>
  private let name: String
  private let folder: OpenFolder
  private let file: OpenFile?

  /// Takes the lock.
  /// - Parameters:
  ///   - name: The name of the file.
  ///   - owned: What messages name as owned. Default: nil, the folder's path.
  ///   - isHostile: Whether others may write to the folder. A file that cannot be used is then no error.
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

  /// The lines that this process and earlier ones have stored in the file for later processes.
  var notes: String { noted.withLock { $0 } }

  /// Replaces the notes in the file. They are durable when this returns.
  /// - Throws: `SystemError`. The notes are then unchanged, or may not be durable.
  func note(_ lines: String) throws(SystemError) {
    guard let file, lines != notes else { return }
    try file.replaceContents(with: head + lines)
    noted.withLock { $0 = lines }
    try file.sync()
  }

  /// The notes in an instance file.
  package static func notes(of file: OpenFile) throws(SystemError) -> String {
    let text = String(decoding: try file.readStart(sizeLimit), as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst(2).joined(separator: "\n")
  }

  /// Whether a folder is the locked one, even when its device and inode have changed.
  func isHeld(in other: OpenFolder) -> Bool {
    guard file != nil, let found = try? other.open(reading: name), let status = try? found.status(),
      status.kind == .file, other.isOurs(status)
    else { return false }
    return (try? found.readStart(Self.sizeLimit)) == Array(text.utf8)
  }

  /// The process that holds a lock; nil when none does. 0 when its id cannot be read.
  /// - Parameters:
  ///   - path: The path of the lock's file, relative to `folder`.
  ///   - folder: The folder's path. Symbolic links in it are followed.
  /// - Throws: `SystemError` when the file cannot be examined.
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

/// The lock of the folder itself (`flock`), when instances of this program hold it.
enum FolderLock {
  /// Locks the folder until it is closed.
  /// - Returns: The instance that holds the lock; nil when none does, also when the folder could not be locked, as on
  ///   some shares.
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

  /// The processes that hold an `flock` of an inode. Lines of `/proc/locks` look like `1: FLOCK  ADVISORY  WRITE 1234
  /// 08:01:5678 0 EOF`.
  private static func processes(inode: UInt) -> [Int] {
    guard let data = try? OpenFile(reading: "/proc/locks").readAll() else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count >= 6, fields[1] == "FLOCK", fields[5].split(separator: ":").last.map(String.init) == "\(inode)"
      else { return nil }
      return Int(fields[4])
    }
  }

  /// Whether a process runs this program for this user or root, and has a folder open.
  private static func isInstance(_ process: Int, holding folder: FileStatus) -> Bool {
    let path = "/proc/\(process)"
    guard let owner = try? FileStatus(of: path).owner, owner == geteuid() || owner == 0,
      let name = try? OpenFile(reading: path + "/comm").readAll(),
      name == (try? OpenFile(reading: "/proc/self/comm").readAll())
    else { return false }
    // Inode numbers are unique within one file system only. Root's descriptors cannot be read.
    guard let descriptors = try? Folder.names(in: path + "/fd") else { return owner == 0 }
    return descriptors.contains { descriptor in
      var status = stat()
      guard uninterrupted({ stat("\(path)/fd/\(descriptor.description)", &status) }) == 0 else { return false }
      return FileStatus(status).identity.isSameNode(as: folder.identity)
    }
  }
}
