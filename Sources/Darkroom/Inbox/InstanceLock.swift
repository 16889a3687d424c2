import Glibc
import System

/// The right to be the one instance on a folder: a file lock that the kernel releases when the process dies.
package final class InstanceLock: Sendable {
  private let file: OpenFile

  /// Takes the lock.
  /// - Throws: `StopError.busy` when another process holds it; `SystemError`.
  init(file path: String, of folder: String) throws {
    file = try OpenFile(updating: path, mode: 0o644)
    guard try file.lockExclusively() else {
      throw StopError.busy(folder: folder, process: Self.process(file))
    }
    try file.truncate()
    try file.write("\(getpid())\n")
  }

  /// The process that holds a lock; nil when none does.
  /// - Throws: `SystemError` when that cannot be told.
  package static func holder(file path: String) throws(SystemError) -> Int? {
    do {
      let file = try OpenFile(reading: path)
      return try file.isLocked() ? process(file) ?? 0 : nil
    } catch  where error.code == ENOENT {
      return nil
    }
  }

  private static func process(_ file: OpenFile) -> Int? {
    (try? file.readStart(32)).flatMap { Int(String(decoding: $0.prefix { $0 != 0x0a }, as: UTF8.self)) }
  }
}
