import Glibc

/// The right to be the one instance on a folder: a file lock that the kernel releases when the process dies.
final class InstanceLock: Sendable {
  private let file: OpenFile

  /// Takes the lock.
  /// - Throws: `StopError.busy` when another process holds it; `SystemError`.
  init(file path: String, of folder: String) throws {
    file = try OpenFile(updating: path, mode: 0o644)
    guard try file.lockExclusively() else {
      let holder = (try? file.readStart(32)).map { String(decoding: $0.prefix { $0 != 0x0a }, as: UTF8.self) }
      throw StopError.busy(folder: folder, process: holder.flatMap { Int($0) })
    }
    try file.truncate()
    try file.write("\(getpid())\n")
  }
}
