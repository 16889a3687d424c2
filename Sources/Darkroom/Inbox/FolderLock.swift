import CLinux
import Glibc
import System

/// The lock of a folder itself (`flock`), as far as it is held by instances of this program.
enum FolderLock {
  /// Takes the lock, which is held until the folder is closed.
  /// - Returns: The process that holds it, if that is an instance; nil when there is none, also when the lock could not be
  ///   had, as on some shares.
  /// - Throws: `SystemError`.
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
