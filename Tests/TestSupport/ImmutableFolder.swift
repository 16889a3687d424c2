import Foundation

/// A folder in which, for one test, nobody may change anything, root included (`chattr +i`), until it is released.
package final class ImmutableFolder: Sendable {
  /// Why there can be none; nil where tests may make folders so.
  package static let obstacle: String? = {
    do {
      for parent in [TemporaryFolder.parent, TemporaryFolder.onDisk] {
        let folder = try TemporaryFolder(in: parent)
        let immutable = try ImmutableFolder(folder.makeFolder("x"))
        defer { immutable.release() }
        if mkdir(folder.file("x/y"), 0o755) == 0 { return "chattr +i has no effect in \(parent)" }
      }
      return nil
    } catch {
      return "chattr +i needs root: \(error)"
    }
  }()

  private let path: String

  /// - Throws: `POSIXError` when that is not permitted, or the file system cannot do it.
  package init(_ path: String) throws {
    self.path = path
    try Self.change("+i", path)
  }

  /// Lets it be changed again.
  package func release() { try? Self.change("-i", path) }

  private static func change(_ flag: String, _ path: String) throws {
    guard try SpawnedProcess.run("/usr/bin/chattr", [flag, path], errors: .null) == 0 else { throw POSIXError(.EPERM) }
  }

  deinit { release() }
}
