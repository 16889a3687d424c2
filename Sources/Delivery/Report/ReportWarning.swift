import JobIndex
import JSON
import Manifests

/// A warning about a job. No entry fails because of it.
package struct ReportWarning: Sendable, Equatable {
  /// The stable codes of warnings about results. Warnings about manifests have those of `ManifestWarning.Code`.
  package enum Code: String, Sendable, CaseIterable {
    /// Many different URLs returned the same bytes.
    case sameSource = "same-source"
    /// Results of damaged pictures.
    case damagedPictures = "damaged-pictures"
    /// Another file has the name of the job's page.
    case pageObstacle = "page-obstacle"
    /// `--prune` has removed nothing, or not everything.
    case notPruned = "not-pruned"
  }

  /// The beginnings of the messages that `--prune` has removed nothing, or not everything; the cause follows.
  private static let (nothingPruned, partlyPruned) = (
    "--prune has removed no results of earlier runs, since ",
    "--prune may have left results of earlier runs that it should have removed, since "
  )

  /// - Parameter pruned: The number of files that were removed nevertheless.
  static func notPruned(_ why: String, pruned: Int) -> String { (pruned > 0 ? partlyPruned : nothingPruned) + why }

  /// Whether a message is one of `notPruned`.
  package static func isNotPruned(_ message: String) -> Bool {
    message.hasPrefix(nothingPruned) || message.hasPrefix(partlyPruned)
  }

  /// For people.
  let message: String

  /// The location of the first row that it concerns in the report, or of its cause in the manifest; empty for the whole job.
  let location: String

  package let json: JSONValue

  init(code: Code, message: String, location: String) {
    self.message = message
    self.location = location
    json = .object([
      "code": .string(code.rawValue), "message": .string(message),
      "where": location.isEmpty ? nil : .string(location),
    ])
  }

  package init(_ warning: ManifestWarning) {
    message = warning.message
    location = warning.location.description
    json = warning.json
  }
}
