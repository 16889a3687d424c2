import Foundation
import Manifests
import Model
import System

/// A manifest from standard input, in a temporary unnamed file that disappears with the process. Its format is
/// recognized by its beginning.
package final class StandardInputManifest {
  /// The default name of its job.
  package static let job = "stdin"

  /// The extension for its format, including `.gz`.
  package let suffix: String

  /// The status of the file that standard input is; nil when it is none, such as a pipe.
  let original: FileStatus?

  private let file: OpenFile

  package var path: String { "/proc/self/fd/\(file.descriptor)" }

  /// Whether standard input is a pipe with something to read.
  package static var isWaiting: Bool {
    guard let input = try? OpenFile.standardInput(), (try? input.status().kind) == .pipe else { return false }
    var count: Int32 = 0
    return ioctl(input.descriptor, UInt(FIONREAD), &count) == 0 && count > 0
  }

  /// Reads standard input from its current position to its end. It is not reopened: that may be forbidden, would begin
  /// at the start of a file, and fails for a socket.
  /// - Throws: `StopError.missing` when it cannot be read; `SystemError`, also when `/proc` is not mounted.
  package init() throws {
    // Before any other file is opened, which would get the descriptor of a closed standard input.
    let input: OpenFile
    do {
      input = try OpenFile.standardInput()
      let status = try input.status()
      original = status.kind == .file ? status : nil
    } catch {
      throw StopError.missing("standard input cannot be read: \(error)")
    }
    let copy = try OpenFolder(FileManager.default.temporaryDirectory.path).createTemporary()
    file = copy
    do {
      try input.eachChunk(isWaiting: true) { try copy.write($0) }
    } catch let error as SystemError where error.path == input.path {
      throw StopError.missing("standard input cannot be read: \(error)")
    }
    suffix = try ManifestRecognition.suffix(of: "/proc/self/fd/\(copy.descriptor)")
  }
}
