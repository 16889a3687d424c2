import Foundation
import JobIndex
import Manifests
import Model
import Planning
import System
import Transfer

/// A manifest that is planned for a command, without an instance, in files without a name, which end with the process.
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

  /// The list of these files, as long as it is read.
  private var list: OpenFile?

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
    let size: String?
    do {
      let manifest = try OpenFile(reading: path)
      let status = try manifest.status()
      guard status.kind == .file else { throw StopError.missing(path, "it is no file") }
      size = ManifestSize(format: name.format.name, isCompressed: name.isCompressed)
        .problem(size: status.size, hole: manifest.firstHole ?? status.size)
    } catch let error as SystemError {
      throw StopError.missing(error)
    }
    var defaults = EntryDefaults(recipe: configuration.filters, options: configuration.output)
    defaults.recipes = configuration.recipes
    let planner = Planner(
      format: name.format, file: ManifestFile(path: path, isCompressed: name.isCompressed), defaults: defaults)
    var plan = PlannedManifest(
      file: file, name: name, planner: planner, index: try namelessIndex())
    if let size {
      plan.findings.problems = [ManifestProblem(.tooLarge, size, at: .file)]
    } else {
      plan.findings = try planner.plan(into: plan.index)
    }
    if plan.findings.problems.isEmpty, let source = plan.findings.source {
      plan.source = source
      try plan.listFolder(configuration)
    }
    return try body(plan)
  }

  /// Creates an index whose file has no name as soon as it is open. It has no journal that SQLite would look for beside it.
  /// - Throws: `StopError.missing` when there is no folder for temporary files; `SQLiteError`.
  private static func namelessIndex() throws -> JobIndex {
    do {
      // SQLite does not follow symbolic links.
      let parent = try Folder.resolved(FileManager.default.temporaryDirectory.path)
      let folder = parent + "/darkroom-plan-\(UUID().uuidString)"
      try Folder.create(folder, mode: 0o700)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      return try JobIndex(creating: .file(folder + "/index.sqlite"))
    } catch let error as SystemError {
      throw StopError.missing("\(error); set TMPDIR to a folder in which this user may create files")
    }
  }

  /// Plans the files of the source, if that is a folder.
  private mutating func listFolder(_ configuration: Configuration) throws {
    guard let files = findings.folder else { return }
    do {
      guard let list = try Self.list(files, configuration) else { return }
      listedFolder = files.redacted
      planner.content.list = list.list
      self.list = list.file
      index = try Self.namelessIndex()
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
    _ source: FolderSource, _ configuration: Configuration
  ) throws -> (list: ManifestContent.List, file: OpenFile, warnings: [ManifestWarning])? {
    guard let listing = try source.list(configuration, waits: false, isCancelled: { false }),
      let format = ManifestFormats.format(of: "jsonl")
    else { return nil }
    let file = try OpenFolder(FileManager.default.temporaryDirectory.path).createTemporary()
    let (sha256, bytes) = try listing.write(to: file)
    let fetched = FetchedList(listing, of: source, sha256: sha256, bytes: bytes)
    let list = ManifestContent.List(
      format: format, file: ManifestFile(path: "/proc/self/fd/\(file.descriptor)"), url: source.redacted,
      base: source.base)
    return (list, file, fetched.manifestWarnings)
  }
}
