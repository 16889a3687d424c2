import Manifests
import System

/// Where the things of one job lie.
struct JobFolder: Sendable {
  let path: String
  let name: String

  /// The outbox's path.
  let root: String

  /// The outbox, held open; nil to open it anew each time.
  var outbox: OpenFolder?

  /// - Parameter root: A folder above it. Default: the one above.
  init(path: String, name: String, root: String? = nil, outbox: OpenFolder? = nil) {
    self.path = path
    self.name = name
    self.root = root ?? Folder.parent(of: path)
    self.outbox = outbox
  }

  var report: String { path + "/report.json" }
  var entriesLog: String { path + "/entries.jsonl" }
  var failedManifest: String { path + "/" + name + ".failed.jsonl" }
  var history: String { path + "/history" }

  func manifest(extension suffix: String) -> String { path + "/manifest." + suffix }

  /// Whether a file of the folder is the manifest of the run that ended last.
  static func isManifest(_ name: String) -> Bool { ManifestFileName(name)?.stem == "manifest" }

  /// The path of something whose path is relative to the job's folder.
  func file(_ target: String) -> String { path + "/" + target }

  /// The relative path of a result.
  static func image(_ name: String, extension suffix: String) -> String { "images/\(name).\(suffix)" }

  /// The relative path of a result's source.
  static func original(_ name: String, extension suffix: String) -> String { "originals/\(name).\(suffix)" }

  /// The relative path of a result's preview.
  /// - Parameter name: Of the result; no other of the job has it, whatever its format.
  static func preview(_ name: String) -> String { "previews/\(name).jpg" }
}
