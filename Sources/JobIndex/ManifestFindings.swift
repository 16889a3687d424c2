import JSON
import Manifests
import Model
import Transfer

/// The problems and warnings of a manifest.
package struct ManifestFindings {
  /// The problems that reject the manifest, in its order, at most `ManifestProblem.reportLimit`.
  package var problems: [ManifestProblem] = []

  /// The warnings, at most `ManifestWarning.reportLimit`.
  package var warnings: [ManifestWarning] = []

  /// Those that the report of the job's last run does not have.
  package var newWarnings: [ManifestWarning] = []

  /// The source of the list of entries; nil when the manifest contains the entries, or the list was downloaded.
  package var source: Entry?

  /// The source as a folder; nil when it is none.
  package var folder: FolderSource?

  /// Whether the manifest's `defaults` or names contain secrets.
  package var hasSecretDefaults = false

  package init(
    problems: [ManifestProblem] = [], warnings: [ManifestWarning] = [], source: Entry? = nil,
    hasSecretDefaults: Bool = false
  ) {
    self.problems = problems
    self.warnings = warnings
    self.source = source
    self.hasSecretDefaults = hasSecretDefaults
  }
}

extension ManifestWarning {
  /// The warning as reports, events and `check --json` show it.
  package var json: JSONValue {
    .object([
      "code": .string(code.rawValue), "message": .string(message),
      "where": location == .file ? nil : .string(location.description),
    ])
  }
}
