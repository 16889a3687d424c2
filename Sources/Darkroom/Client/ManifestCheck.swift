import Foundation
import JobIndex
import Manifests
import Model
import Planning
import System
import Transfer

/// Plans a manifest without doing anything, and leaves nothing behind.
package struct ManifestCheck {
  /// What a manifest would become.
  package struct Result: Sendable {
    package let file: String
    package let job: String
    package let format: String
    package let total: Int

    package let problems: [ManifestProblem]

    package let warnings: [ManifestWarning]

    /// Where its entries are listed, without secrets; nil when that is the manifest.
    package var source: String?

    /// Why that could not be downloaded, as far as it can be told without a network.
    package var sourceError: TransferError?
  }

  /// What one entry would become.
  package struct PlannedEntry: Sendable {
    package let position: Int
    package let name: String

    /// The name of the variant; nil for an entry without.
    package let variant: String?

    /// The result's path beneath the job's folder; its extension is `*` when it is the source's.
    package let output: String

    /// The URLs, without their secrets, in the order in which they would be tried; each with why it would fail, as far
    /// as that can be told without a network, and the pattern of the rule for its host.
    package let mirrors: [(url: String, error: TransferError?, rule: String?)]

    /// How they would be asked, such as `GET`.
    package let method: String
    package let filters: String
    package let format: String
    package let quality: Int
    package let priority: String

    /// The names of the entries that must succeed first.
    package let after: [String]

    /// Why the entry would fail: the reason of the last mirror, if there is one for each; nil when it would not.
    package var error: TransferError? { mirrors.contains { $0.error == nil } ? nil : mirrors.last?.error }
  }

  private let configuration: Configuration

  package init(configuration: Configuration) { self.configuration = configuration }

  /// Plans a manifest and hands on its entries, in the manifest's order, unless it would be rejected.
  /// - Parameters:
  ///   - path: The manifest.
  ///   - name: What it is called, which tells its format. Default: nil, the path's last component.
  /// - Throws: `StopError.missing` when it cannot be read or its name is no manifest's; `SQLiteError`; what `each` throws.
  package func check(
    _ path: String, called name: String? = nil, begin: (Result) throws -> Void, each: (PlannedEntry) throws -> Void
  ) throws {
    let file = name ?? Folder.name(of: path)
    guard let name = ManifestFileName(file) else {
      throw StopError.missing(path, ManifestFormats.refusal)
    }
    let folder: String
    let size: String?
    do {
      // SQLite follows no links.
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
