import Darkroom
import Foundation

/// A manifest of JSON lines from standard input, in a file of its own that is removed when the value is released. Its
/// job is called `stdin`.
final class StandardInputManifest {
  let path: String
  private let folder: String

  /// Reads standard input to its end.
  /// - Throws: `SystemError`.
  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/darkroom-input-\(UUID().uuidString)"
    path = folder + "/stdin.jsonl"
    try Folder.create(folder, mode: 0o700)
    let (input, file) = (try OpenFile(reading: "/dev/stdin"), try OpenFile(creating: path, mode: 0o600))
    try input.eachChunk { try file.write($0) }
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }
}
