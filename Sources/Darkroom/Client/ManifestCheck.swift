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
    package let total: Int

    package let problems: [ManifestProblem]

    package let warnings: [ManifestWarning]

    /// The source of its list of entries, without secrets; nil when the manifest contains the entries.
    package var source: String?

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
    let index = try JobIndex(creating: .file(folder + "/index.sqlite"))
    let defaults = EntryDefaults(recipe: configuration.filters, options: configuration.output)
    let planner = Planner(
      format: name.format, file: ManifestFile(path: path, isCompressed: name.isCompressed), defaults: defaults)
    let findings =
      try size.map { ManifestFindings(problems: [ManifestProblem(.tooLarge, $0, at: .file)]) }
      ?? planner.plan(into: index)
    let isFine = findings.problems.isEmpty && findings.source == nil
    var result = Result(
      file: file, job: name.job, format: name.format.name, total: isFine ? try index.count() : 0,
      problems: findings.problems, warnings: findings.warnings)
    if let source = findings.source {
      let planned = PlannedEntry(source, after: [], configuration)
      (result.source, result.sourceError) = (planned.mirrors.first?.url, planned.error)
      if let folder = FolderLocation(parsing: source.urls[0]) { result.sourceError = failure(of: folder) }
    }
    try begin(result)
    guard isFine else { return }
    try index.eachInOrder { entry in
      try each(PlannedEntry(entry, after: index.dependencyNames(of: entry.position), configuration))
    }
  }

  /// Why a folder cannot be listed; nil when it can.
  fileprivate func failure(of folder: FolderLocation) -> TransferError? {
    do throws(TransferError) {
      _ = try folder.open(configuration.transfer)
      return nil
    } catch {
      return error
    }
  }
}

extension ManifestCheck.PlannedEntry {
  fileprivate init(_ entry: Entry, after: [String], _ configuration: Configuration) {
    let format = entry.options.format
    self.init(
      position: entry.line ?? entry.position, name: entry.shownName, variant: entry.variant,
      output: JobFolder.path(of: .result, entry.name, extension: format?.fileExtension ?? "*"),
      mirrors: entry.urls.map { Self.preflight($0, configuration) }, method: entry.request.method.rawValue,
      filters: entry.recipe.description, format: format?.rawValue ?? "keep", quality: entry.options.quality,
      priority: entry.priority.rawValue, after: after)
  }

  private static func preflight(
    _ url: String, _ configuration: Configuration
  ) -> (url: String, error: TransferError?, rule: String?) {
    do throws(TransferError) {
      let location = try SourceLocation(parsing: url)
      let rule = configuration.hosts.rule(for: location)?.pattern.description
      return (location.redacted, configuration.transfer.preflightFailure(of: location), rule)
    } catch {
      return (SourceLocation.redacted(url), error, nil)
    }
  }
}
