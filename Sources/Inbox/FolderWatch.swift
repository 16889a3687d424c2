import CLinux
import Glibc
import System

/// The kernel's notices about one folder (`inotify`). Without them, as on some shares, the folder is only polled.
package final class FolderWatch: Sendable {
  /// Readable when there are notices; -1 when notices are not available.
  package let descriptor: Int32

  package init(folder: String) {
    let opened = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    let events = UInt32(
      IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_MOVE_SELF
        | IN_DELETE_SELF)
    if opened >= 0, inotify_add_watch(opened, folder, events) < 0 {
      close(opened)
      descriptor = -1
    } else {
      descriptor = opened
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The notices since the last call.
  package func notices() -> [FolderNotice] {
    guard descriptor >= 0 else { return [] }
    var notices: [FolderNotice] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 8)
    defer { buffer.deallocate() }
    while true {
      let count = uninterrupted { read(descriptor, buffer.baseAddress, buffer.count) }
      guard count > 0 else { return notices }
      var offset = 0
      while offset + MemoryLayout<inotify_event>.size <= count {
        let event = buffer.load(fromByteOffset: offset, as: inotify_event.self)
        let start = offset + MemoryLayout<inotify_event>.size
        let name = FileName(bytes: buffer[start..<start + Int(event.len)].prefix { $0 != 0 }.map { $0 })
        let isOfFolder = event.mask & UInt32(IN_MOVE_SELF | IN_DELETE_SELF | IN_UNMOUNT | IN_IGNORED) != 0
        if isOfFolder || event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
          notices.append(.lost)
        } else if event.mask & UInt32(IN_CLOSE_WRITE | IN_MOVED_TO) != 0 {
          notices.append(.complete(name))
        } else {
          notices.append(.begun(name))
        }
        offset = start + Int(event.len)
      }
    }
  }
}
