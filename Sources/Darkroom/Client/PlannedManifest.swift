import Foundation
import JobIndex
import Manifests
import Model
import Planning
import System
import Transfer

/// A manifest that is planned for a command, without an instance, in a temporary folder that is removed afterwards.
struct PlannedManifest {
  /// The name with which the manifest was given, without folders.
  let file: String
  let name: ManifestFileName

  /// What was planned; a folder's list included.
  fileprivate(set) var planner: Planner
  fileprivate(set) var index: JobIndex
  fileprivate(set) var findings = ManifestFindings()

  /// The source of the list of entries, with its request; nil when the manifest contains the entries.
  fileprivate(set) var source: Entry?

  /// The folder whose files are the entries, without secrets, if it could be read.
  fileprivate(set) var listedFolder: String?

  /// Whether there is an entry for each row of the index: it has no problem, and its entries are known.
  var isComplete: Bool { findings.problems.isEmpty && (source == nil || listedFolder != nil) }

  /// Plans a manifest, and calls `body` with the plan.
  /// - Parameters:
  ///   - path: The manifest.
  ///   - name: The name that determines the format. Default: nil, the path's last component.
  /// - Throws: `StopError.missing` when it cannot be read or its name is not that of a manifest; `SQLiteError`; errors of `body`.
  static func with<T>(
    _ path: String, called name: String? = nil, _ configuration: Configuration, _ body: (PlannedManifest) throws -> T
  ) throws -> T {
    let file = name ?? Folder.name(of: path)
    guard let name = ManifestFileName(file) else { throw StopError.noManifest(path) }
    let folder: String
    let size: String?
    do {
      // SQLite does not follow symbolic links.
      let parent = try Folder.resolved(FileManager.default.temporaryDirectory.path)
      folder = parent + "/darkroom-plan-\(UUID().uuidString)"
      let manifest = try OpenFile(reading: path)
      let status = try manifest.status()
      guard status.kind == .file else { throw StopError.missing(path, "it is no file") }
      size = ManifestSize(format: name.format.name, isCompressed: name.isCompressed)
        .problem(size: status.size, hole: manifest.firstHole ?? status.size)
      try Folder.create(folder, mode: 0o700)
    } catch let error as SystemError {
      throw StopError.missing(error)
    }
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var defaults = EntryDefaults(recipe: configuration.filters, options: configuration.output)
    defaults.recipes = configuration.recipes
    let planner = Planner(
      format: name.format, file: ManifestFile(path: path, isCompressed: name.isCompressed), defaults: defaults)
    var plan = PlannedManifest(
      file: file, name: name, planner: planner, index: try JobIndex(creating: .file(folder + "/index.sqlite")))
    if let size {
      plan.findings.problems = [ManifestProblem(.tooLarge, size, at: .file)]
    } else {
      plan.findings = try planner.plan(into: plan.index)
    }
    if plan.findings.problems.isEmpty, let source = plan.findings.source {
      plan.source = source
      try plan.listFolder(configuration, in: folder)
    }
    return try body(plan)
  }

  /// Plans the files of the source, if that is a folder.
  /// - Parameter folder: Where the list and the index are stored.
  private mutating func listFolder(_ configuration: Configuration, in folder: String) throws {
    guard let files = findings.folder else { return }
    do {
      guard let list = try Self.list(files, configuration, in: folder) else { return }
      listedFolder = files.redacted
      planner.content.list = list.list
      index = try JobIndex(creating: .file(folder + "/files.sqlite"))
      findings = try planner.plan(into: index)
      findings.warnings += list.warnings
    } catch let error as TransferError {
      let message = "the source cannot be read: \(error.code.rawValue): \(error.message)"
      findings.problems = [ManifestProblem(.sourceFailed, message, at: .keyPath(["source"]))]
    } catch let error as SystemError {
      throw StopError.missing(error)
    }
  }

  /// Lists the files of a source now, without waiting for those that are being written.
  private static func list(
    _ source: FolderSource, _ configuration: Configuration, in folder: String
  ) throws -> (list: ManifestContent.List, warnings: [ManifestWarning])? {
    guard let listing = try source.list(configuration, waits: false, isCancelled: { false }),
      let format = ManifestFormats.format(of: "jsonl")
    else { return nil }
    let (sha256, bytes) = try listing.write(to: OpenFolder(folder).create(file: "files.jsonl"))
    let fetched = FetchedList(listing, of: source, sha256: sha256, bytes: bytes)
    let list = ManifestContent.List(
      format: format, file: ManifestFile(path: folder + "/files.jsonl"), url: source.redacted, base: source.base)
    return (list, fetched.manifestWarnings)
  }
}
