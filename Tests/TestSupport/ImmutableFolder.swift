import Foundation

/// A folder in which, for one test, nobody may change anything, root included (`chattr +i`), until it is released.
package final class ImmutableFolder: Sendable {
  /// Why there can be none; nil where tests may make folders so.
  package static let obstacle: String? = {
    do {
      let folder = try TemporaryFolder()
      let immutable = try ImmutableFolder(folder.makeFolder("x"))
      defer { immutable.release() }
      return mkdir(folder.file("x/y"), 0o755) == 0 ? "chattr +i has no effect here" : nil
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
