import JSON
import Manifests

/// What is wrong with a manifest, and what is doubtful.
struct ManifestFindings {
  /// What makes the whole manifest rejected, in its order, at most `ManifestProblem.reportLimit`; empty when it is fine.
  var problems: [ManifestProblem] = []

  /// At most `ManifestWarning.reportLimit`.
  var warnings: [ManifestWarning] = []

  /// Where the entries are listed; nil when that is the manifest itself, or its list is there.
  var source: Entry?

  /// Whether the manifest's `defaults`, or names, have something that only its owner is to read.
  var hasSecretDefaults = false
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
