import Foundation
import JobIndex
import Manifests
import Model
import Planning
import System
import Transfer

/// Plans a manifest for `darkroom check`. Leaves no files behind.
package struct ManifestCheck {
  /// The plan of a manifest.
  package struct Result: Sendable {
    package let file: String
    package let job: String
    package let format: String
    package fileprivate(set) var total: Int

    package fileprivate(set) var problems: [ManifestProblem]

    package fileprivate(set) var warnings: [ManifestWarning]

    /// The source of its list of entries, without secrets; nil when the manifest contains the entries.
    package var source: String?

    /// Whether the source is a folder whose files are the entries. A list elsewhere is not read.
    package var isListed = false

    /// Why the list could not be downloaded, as far as that is known without using the network.
    package var sourceError: TransferError?
  }

  /// The plan of an entry.
  package struct PlannedEntry: Sendable {
    package let position: Int
    package let name: String

    /// The name of the variant; nil for an entry without variants.
    package let variant: String?

    /// The path of the result, relative to the job's folder. Its extension is `*` if it is that of the source.
    package let output: String

    /// The URLs without secrets, in the order in which they are tried, each with the reason why it would fail, as far
    /// as that is known without using the network, and the pattern of the rule for its host.
    package let mirrors: [(url: String, error: TransferError?, rule: String?)]

    /// The method of the request, such as `GET`.
    package let method: String
    package let filters: String
    package let format: String
    package let quality: Int
    package let priority: String

    /// The names of the entries that must succeed first.
    package let after: [String]

    /// Why the entry would fail: the error of the last mirror, if there is one for each; nil when it would not.
    package var error: TransferError? { mirrors.contains { $0.error == nil } ? nil : mirrors.last?.error }
  }

  private let configuration: Configuration

  package init(configuration: Configuration) { self.configuration = configuration }

  /// Plans a manifest, and calls `each` with its entries in the manifest's order, unless it would be rejected.
  /// - Parameters:
  ///   - path: The manifest.
  ///   - name: The name that determines the format. Default: nil, the path's last component.
  /// - Throws: `StopError.missing` when it cannot be read or its name is not that of a manifest; `SQLiteError`; errors
  ///   of `each`.
  package func check(
    _ path: String, called name: String? = nil, begin: (Result) throws -> Void, each: (PlannedEntry) throws -> Void
  ) throws {
    let file = name ?? Folder.name(of: path)
    guard let name = ManifestFileName(file) else { throw StopError.noManifest(path) }
    let folder: String
    let size: String?
    do {
      // SQLite does not follow symbolic links.
      let parent = try Folder.resolved(FileManager.default.temporaryDirectory.path)
      folder = parent + "/darkroom-check-\(UUID().uuidString)"
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
    var index = try JobIndex(creating: .file(folder + "/index.sqlite"))
    let defaults = EntryDefaults(recipe: configuration.filters, options: configuration.output)
    var planner = Planner(
      format: name.format, file: ManifestFile(path: path, isCompressed: name.isCompressed), defaults: defaults)
    var findings =
      try size.map { ManifestFindings(problems: [ManifestProblem(.tooLarge, $0, at: .file)]) }
      ?? planner.plan(into: index)
    var result = Result(file: file, job: name.job, format: name.format.name, total: 0, problems: [], warnings: [])
    if let source = findings.source, findings.problems.isEmpty {
      let planned = PlannedEntry(source, after: [], configuration)
      (result.source, result.sourceError) = (planned.mirrors.first?.url, planned.error)
      do {
        if let files = findings.folder, let list = try list(files, in: folder) {
          (result.source, result.sourceError, result.isListed) = (files.redacted, nil, true)
          planner.content.list = list.list
          index = try JobIndex(creating: .file(folder + "/files.sqlite"))
          findings = try planner.plan(into: index)
          findings.warnings += list.warnings
        }
      } catch let error as TransferError {
        let message = "the source cannot be read: \(error.code.rawValue): \(error.message)"
        findings.problems = [ManifestProblem(.sourceFailed, message, at: .keyPath(["source"]))]
      } catch let error as SystemError {
        throw StopError.missing(error)
      }
    }
    (result.problems, result.warnings) = (findings.problems, findings.warnings)
    let isFine = findings.problems.isEmpty && findings.source == nil
    if isFine { result.total = try index.count() }
    try begin(result)
    guard isFine else { return }
    try index.eachInOrder { entry in
      try each(PlannedEntry(entry, after: index.dependencyNames(of: entry.position), configuration))
    }
  }

  /// Lists the files of a source now, without waiting for those that are being written.
  /// - Parameter folder: Where the list is stored.
  private func list(
    _ source: FolderSource, in folder: String
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

extension ManifestCheck.PlannedEntry {
  fileprivate init(_ entry: Entry, after: [String], _ configuration: Configuration) {
    let format = entry.options.format
    self.init(
      position: entry.line ?? entry.position, name: entry.shownName, variant: entry.variant,
      output: JobFolder.path(of: .result, entry.name, extension: format?.fileExtension ?? "*"),
      mirrors: entry.urls.map { Self.preflight($0, entry.request, configuration) },
      method: entry.request.method.rawValue, filters: entry.recipe.description, format: format?.rawValue ?? "keep",
      quality: entry.options.quality, priority: entry.priority.rawValue, after: after)
  }

  private static func preflight(
    _ url: String, _ request: SourceRequest, _ configuration: Configuration
  ) -> (url: String, error: TransferError?, rule: String?) {
    do throws(TransferError) {
      let location = try SourceLocation(parsing: url)
      let rule = configuration.hosts.rule(for: location)?.pattern.description
      return (location.redacted, configuration.engine.preflightFailure(of: location, request), rule)
    } catch {
      return (SourceLocation.redacted(url), error, nil)
    }
  }
}
