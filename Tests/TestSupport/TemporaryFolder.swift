import Foundation

/// A folder of its own for one test, removed with everything in it when the value is released.
package final class TemporaryFolder: Sendable {
  /// Absolute path, symbolic links resolved, without a trailing slash.
  package let path: String

  /// Where temporary folders are made unless a test says otherwise: `TMPDIR`, else in memory where it has 4 GiB to spare and
  /// programs may be run, else the system's temporary folder. Ten thousands of small files that are synced and removed keep
  /// a disk busier than what is tested; `script/test-system` has the disk.
  package static let parent: String = {
    let memory = "/dev/shm"
    let noExecution: UInt = 8  // ST_NOEXEC of sys/statvfs.h, which Swift does not see
    var space = statvfs()
    if ProcessInfo.processInfo.environment["TMPDIR"] == nil, statvfs(memory, &space) == 0,
      space.f_flag & noExecution == 0, space.f_bavail * space.f_frsize >= 4 << 30
    {
      return memory
    }
    return FileManager.default.temporaryDirectory.path
  }()

  /// A folder for tests of what file systems in memory do not do: like `/tmp` it is there, and unlike it never in memory.
  package static let onDisk = "/var/tmp"

  /// Creates the folder beneath another.
  package init(in parent: String = parent) throws {
    var template = Array((parent + "/darkroom-test-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    let made = template.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
    path = URL(fileURLWithPath: made).resolvingSymlinksInPath().path
  }

  /// The path of something in the folder.
  package func file(_ name: String) -> String { path + "/" + name }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
