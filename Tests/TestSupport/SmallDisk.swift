import Foundation

/// A file system of a few hundred KiB for one test, unmounted when the value is released. A file takes up room until the
/// test gives it back.
package final class SmallDisk: Sendable {
  /// Why there is none: nil where tests may mount file systems.
  package static let isMissing: String? = {
    guard geteuid() == 0 else { return "mounting a tmpfs needs root" }
    do {
      _ = try SmallDisk(kilobytes: 64)
      return nil
    } catch {
      return "a tmpfs cannot be mounted: \(error)"
    }
  }()

  private let folder: TemporaryFolder
  package var path: String { folder.path }

  /// - Throws: `Refused`.
  package init(kilobytes: Int) throws {
    folder = try TemporaryFolder()
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
      throw Refused(reason: String(cString: strerror(errno)))
    }
  }

  /// Makes the disk larger, or smaller.
  package func resize(kilobytes: Int) throws {
    guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k") == 0 else {
      throw Refused(reason: String(cString: strerror(errno)))
    }
  }

  deinit { umount2(path, Int32(MNT_DETACH)) }

  /// The system does not let us.
  package struct Refused: Error {
    package let reason: String
  }
}
