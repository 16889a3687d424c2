import Foundation
import Synchronization

/// A folder of its own for one test, removed with everything in it when the value is released.
package final class TemporaryFolder: Sendable {
  /// Absolute path, symbolic links resolved, without a trailing slash.
  package let path: String

  /// Where temporary folders are made unless a test says otherwise: `TMPDIR`, else in memory where it has 4 GiB to spare and
  /// programs may be run, else the system's temporary folder. Tens of thousands of small files that are synced and removed
  /// keep a disk busier than what is tested; `script/test-system` has the disk.
  package static let parent: String = {
    let memory = "/dev/shm"
    let noExecution: UInt = 8  // ST_NOEXEC of sys/statvfs.h, which Swift does not see
    var space = statvfs()
    if ProcessInfo.processInfo.environment["TMPDIR"] == nil, statvfs(memory, &space) == 0,
      space.f_flag & noExecution == 0, space.f_bavail * space.f_frsize >= 4 << 30, memoryLimit >= 8 << 30
    {
      return memory
    }
    return FileManager.default.temporaryDirectory.path
  }()

  /// The limit of the machine's or container's control group, in which files in memory count.
  private static var memoryLimit: Int {
    let files = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
    let limits = files.compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
    return limits.compactMap { Int($0.filter { !$0.isNewline }) }.min() ?? .max
  }

  private static let all = Mutex<Set<String>>([])

  /// A folder for tests of what file systems in memory do not do: as a rule it is on a disk.
  package static let onDisk = "/var/tmp"

  /// Creates the folder beneath another.
  package init(in parent: String = parent) throws {
    var template = Array((parent + "/darkroom-test-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    let made = template.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
    path = URL(fileURLWithPath: made).resolvingSymlinksInPath().path
    _ = Self.all.withLock { [path] in $0.insert(path) }
  }

  /// The path of something in the folder.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Removes all that are left, before the process ends in the middle of a test.
  static func removeAll() {
    for path in all.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
  }

  deinit {
    _ = Self.all.withLock { [path] in $0.remove(path) }
    try? FileManager.default.removeItem(atPath: path)
  }
}
