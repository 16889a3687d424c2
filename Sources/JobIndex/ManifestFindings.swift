import JSON
import Manifests
import Model

/// What is wrong with a manifest, and what is doubtful.
package struct ManifestFindings {
  /// What makes the whole manifest rejected, in its order, at most `ManifestProblem.reportLimit`; empty when it is fine.
  package var problems: [ManifestProblem] = []

  /// At most `ManifestWarning.reportLimit`.
  package var warnings: [ManifestWarning] = []

  /// Where the entries are listed; nil when that is the manifest itself, or its list is there.
  package var source: Entry?

  /// Whether the manifest's `defaults`, or names, have something that only its owner is to read.
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
  /// The warning as reports, events and `check --json` have it.
  package var json: JSONValue {
    .object([
      "code": .string(code.rawValue), "message": .string(message),
      "where": place == .file ? nil : .string(place.description),
    ])
  }
}
