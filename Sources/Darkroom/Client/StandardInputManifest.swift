import Foundation
import Manifests
import Model
import System

/// A manifest from standard input, in a temporary file without a name, which goes with the process, whatever ends it. What it
/// is, its beginning tells.
package final class StandardInputManifest {
  /// What its job is called unless it gets a name.
  package static let job = "stdin"

  /// The extension that its format has, `.gz` included.
  package let suffix: String

  /// Who could read the file that standard input is; nil when it is none, such as a pipe.
  let original: FileStatus?

  private let file: OpenFile

  package var path: String { "/proc/self/fd/\(file.descriptor)" }

  /// Reads standard input, from where it stands, to its end. It is not opened anew: that may not be allowed, begins a file
  /// from its start, and fails for a socket.
  /// - Throws: `StopError.missing` when it cannot be read; `SystemError`, also when `/proc` is not mounted.
  package init() throws {
    // Before anything else is opened: what is closed would be that then.
    let input: OpenFile
    do {
      input = try OpenFile.standardInput()
      let status = try input.status()
      original = status.kind == .file ? status : nil
    } catch {
      throw StopError.missing("standard input cannot be read: \(error)")
    }
    let folder = try OpenFolder(FileManager.default.temporaryDirectory.path)
    let copy: OpenFile
    if let nameless = try? folder.createNameless() {
      copy = nameless
    } else {
      let name = "darkroom-input-\(UUID().uuidString)"
      copy = try folder.create(file: name, mode: 0o600)
      try folder.remove(name)
    }
    file = copy
    do {
      try input.eachChunk(isWaiting: true) { try copy.write($0) }
    } catch let error as SystemError where error.path == input.path {
      throw StopError.missing("standard input cannot be read: \(error)")
    }
    suffix = try ManifestRecognition.suffix(of: "/proc/self/fd/\(copy.descriptor)")
  }
}
