import Foundation

/// A folder of its own for one test, removed with everything in it when the value is released.
package final class TemporaryFolder: Sendable {
  /// Absolute path, symbolic links resolved, without a trailing slash.
  package let path: String

  /// Creates the folder beneath another. Default: the system's temporary folder.
  package init(in parent: String = FileManager.default.temporaryDirectory.path) throws {
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
