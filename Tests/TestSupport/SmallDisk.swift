import Foundation

/// A file system of a few hundred KiB for one test, mounted over a folder, unmounted when the value is released.
package final class SmallDisk: Sendable {
  /// Why there can be none; nil where tests may mount file systems.
  package static let obstacle: String? = {
    do {
      let folder = try TemporaryFolder()
      _ = try SmallDisk(over: folder.path, in: folder, kilobytes: 64)
      return nil
    } catch {
      return "mounting a small tmpfs needs root: \(error)"
    }
  }()

  // Held so that it is not removed before the file system is gone.
  private let folder: TemporaryFolder
  private let path: String

  /// - Parameters:
  ///   - path: A folder that is there.
  ///   - folder: Where it lies.
  ///   - files: How many files and folders there may be; nil for any number.
  /// - Throws: `POSIXError`.
  package init(over path: String, in folder: TemporaryFolder, kilobytes: Int, files: Int? = nil) throws {
    self.path = path
    self.folder = folder
    try mount("size=\(kilobytes)k" + (files.map { ",nr_inodes=\($0)" } ?? ""))
  }

  /// Makes the disk larger or smaller.
  package func resize(kilobytes: Int) throws { try mount("size=\(kilobytes)k", UInt(MS_REMOUNT)) }

  /// Makes the disk read-only; nothing on it may be open for writing.
  package func makeReadOnly() throws { try mount("", UInt(MS_REMOUNT) | UInt(MS_RDONLY)) }

  private func mount(_ options: String, _ flags: UInt = 0) throws {
    guard Glibc.mount("tmpfs", path, "tmpfs", flags, options) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
    }
  }

  deinit { umount2(path, Int32(MNT_DETACH)) }
}
