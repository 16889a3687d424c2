import Foundation

/// A control group with a limit of memory for one test, removed when the value is released.
final class MemoryGroup: Sendable {
  /// Why there can be none; nil where tests may make one.
  static let obstacle: String? = {
    do {
      _ = try MemoryGroup(limit: 1 << 30)
      return nil
    } catch {
      return "a control group needs root and a writable /sys/fs/cgroup: \(error)"
    }
  }()

  /// The file that takes the number of a process.
  let processes: String
  private let path: String

  /// - Parameter limit: In bytes.
  init(limit: Int) throws {
    let first = "/sys/fs/cgroup/memory"
    let isFirst = FileManager.default.fileExists(atPath: first + "/memory.limit_in_bytes")
    path = (isFirst ? first : "/sys/fs/cgroup") + "/darkroom-test-\(UUID().uuidString)"
    processes = path + "/cgroup.procs"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let file = path + (isFirst ? "/memory.limit_in_bytes" : "/memory.max")
    guard let handle = FileHandle(forWritingAtPath: file) else { throw POSIXError(.EACCES) }
    try handle.write(contentsOf: Data("\(limit)".utf8))
  }

  deinit { rmdir(path) }
}
