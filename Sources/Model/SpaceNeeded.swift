import System

/// A manifest whose copy or index does not fit what is free now.
package struct SpaceNeeded: LocalError, CustomStringConvertible {
  /// How many bytes must be free in the state folder's file system, besides `--min-free`.
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
  /// Looks whether there is room for a file.
  /// - Parameters:
  ///   - size: How many bytes it has.
  ///   - file: What messages call it.
  ///   - minFree: How many bytes are to stay free.
  /// - Returns: Why there can never be room for it; nil when there is now.
  /// - Throws: `SpaceNeeded` when there is none now; `SystemError`.
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
