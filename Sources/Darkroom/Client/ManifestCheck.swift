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

    package internal(set) var problems: [ManifestProblem]

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
    try PlannedManifest.with(path, called: name, configuration) { plan in
      var result = Result(plan)
      if let source = plan.source, plan.listedFolder == nil {
        let planned = PlannedEntry(source, after: [], configuration)
        (result.source, result.sourceError) = (planned.mirrors.first?.url, planned.error)
      }
      if plan.isComplete { result.total = try plan.index.count() }
      try begin(result)
      guard plan.isComplete else { return }
      try plan.index.eachInOrder { entry in
        try each(PlannedEntry(entry, after: plan.index.dependencyNames(of: entry.position), configuration))
      }
    }
  }
}

extension ManifestCheck.Result {
  init(_ plan: PlannedManifest) {
    self.init(
      file: plan.file, job: plan.name.job, format: plan.name.format.name, total: 0, problems: plan.findings.problems,
      warnings: plan.findings.warnings, source: plan.listedFolder, isListed: plan.listedFolder != nil)
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
