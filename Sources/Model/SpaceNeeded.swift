import System

/// Thrown when the copy or index of a manifest does not fit the free space.
package struct SpaceNeeded: LocalError, CustomStringConvertible {
  /// The bytes that must be free in the state folder's file system, in addition to `--min-free`.
  package let bytes: Int
  package let file: String

  package init(bytes: Int, file: String) {
    self.bytes = bytes
    self.file = file
  }

  package var cause: ErrorCause { .space }

  package var description: String { "\(file) needs \(ByteCount(bytes)) in the state folder, and there is less" }
}

extension StateFolder {
  /// Checks whether there is space for a file.
  /// - Parameters:
  ///   - size: The size of the file in bytes.
  ///   - file: The name of the file in messages.
  ///   - minFree: The bytes that must stay free.
  /// - Returns: Why the file system is too small for it; nil when there is space now.
  /// - Throws: `SpaceNeeded` when there is not enough space now; `SystemError`.
  package func room(for size: Int, of file: String, minFree: Int) throws -> String? {
    let total = try Folder.totalSpace(path)
    let limit = total > minFree ? total - minFree : total
    guard size <= limit else {
      return "\(file) has \(ByteCount(size)), and the state folder's file system has room for \(ByteCount(limit))"
    }
    guard try Folder.freeSpace(path) - minFree >= size else { throw SpaceNeeded(bytes: size, file: file) }
    return nil
  }
}
