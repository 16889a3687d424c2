import Foundation
import JSON
import TestSupport

@testable import Manifests

/// What a format makes of a manifest's bytes.
struct ReadManifest: Equatable {
  struct Entry: Equatable {
    let value: JSONValue
    let key: String?

    /// The principal field's value.
    var url: String? { value.string ?? value["url"]?.string }
  }

  private(set) var problems: [ManifestProblem] = []
  private(set) var entries: [Entry] = []
  private(set) var warnings: [ManifestWarning] = []

  /// The codes of the problems and where they are, a line each.
  var found: [String] { problems.map { "\($0.code.rawValue) @ \($0.location)" } }

  /// Writes the bytes as a real file and reads it.
  init(_ bytes: some Sequence<UInt8>, as name: String, _ fields: FieldVocabulary = .pictures) throws {
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file(name)))
    guard let format = ManifestFileName(name)?.format else { throw NoFormat() }
    do {
      try format.read(ManifestFile(path: folder.file(name)), fields) { item in
        switch item {
        case .defaults, .source: break
        case .warning(let warning): warnings.append(warning)
        case .entry(let value, let key, _): entries.append(Entry(value: value, key: key))
        case .unreadable(let problems): self.problems += problems.all
        }
      }
    } catch let problem as ManifestProblem {
      problems.append(problem)
    }
  }

  init(_ text: String, as name: String, _ fields: FieldVocabulary = .pictures) throws {
    try self.init(text.utf8, as: name, fields)
  }

  struct NoFormat: Error {}
}

extension FieldVocabulary {
  /// Some of the fields of Darkroom's entries.
  static let pictures = FieldVocabulary(
    principal: "url", principalTitle: "URL", cells: ["url": .textOrArray, "name": .text, "metadata": .extras],
    extras: "metadata", options: [])
}
