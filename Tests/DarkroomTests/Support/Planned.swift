import Foundation
import Imaging
import Manifests
import System
import Testing
import TestSupport

@testable import JobIndex
@testable import Model
@testable import Planning

/// What a manifest's bytes become: its problems, or its entries in manifest order.
struct Planned {
  let problems: [ManifestProblem]
  let warnings: [ManifestWarning]
  let entries: [Entry]

  /// The names of the entries that each comes after.
  let after: [[String]]

  /// The derived names as the next run finds them, page by page.
  let names: [String]

  /// What the index takes on disk, in bytes.
  let indexBytes: Int

  /// The codes of the problems and where they are, a line each.
  var found: [String] { problems.map { "\($0.code.rawValue) @ \($0.location)" } }

  /// Writes the bytes as a real file and plans it as `darkroom` does.
  /// - Parameter lastNames: The derived names of the job's last run. Default: there are none.
  init(
    _ bytes: some Sequence<UInt8>, as file: String, defaults: EntryDefaults? = nil, lastNames: [String] = []
  ) throws {
    let folder = try TemporaryFolder()
    try Data(bytes).write(to: URL(fileURLWithPath: folder.file(file)))
    guard let format = ManifestFileName(file)?.format else { throw NoFormat() }
    let index = try JobIndex(creating: .file(folder.file("index.sqlite")))
    let planner = Planner(
      format: format, file: ManifestFile(path: folder.file(file)), defaults: try defaults ?? Self.defaults)
    let findings = try planner.plan(
      into: index,
      lastNames: {
        if lastNames.isEmpty { return }
        try index.prepareLastNames()
        for page in lastNames { try index.insert(lastNames: page) }
      })
    (problems, warnings) = (findings.problems, findings.warnings)
    entries =
      try problems.isEmpty ? (0..<index.count()).compactMap { try index.entry(at: $0) } : []
    var names: [String] = []
    try index.eachNamesPage { names.append($0) }
    self.names = names
    after = try entries.map { try index.dependencies(of: $0.position).map(\.name) }
    indexBytes = try FileStatus(of: folder.file("index.sqlite")).size
  }

  init(_ text: String, as file: String, lastNames: [String] = []) throws {
    try self.init(text.utf8, as: file, lastNames: lastNames)
  }

  /// The same manifest, of which it is expected that it has no problems.
  func sound(sourceLocation: SourceLocation = #_sourceLocation) -> Planned {
    #expect(problems == [], sourceLocation: sourceLocation)
    return self
  }

  /// The first URL of each entry.
  var urls: [String] { entries.map { $0.urls[0] } }

  /// `sepia(0.8)`, `keep`, 85, `normal`.
  static var defaults: EntryDefaults {
    get throws { EntryDefaults(recipe: try Recipe(parsing: "sepia(0.8)"), options: OutputOptions()) }
  }

  struct NoFormat: Error {}
}
