import JobIndex
import JSON
import Manifests

/// Something about a job that is doubtful, although no entry failed by it.
package struct ReportWarning: Sendable, Equatable {
  /// The stable codes of warnings about results; those about manifests are `ManifestWarning.Code`'s.
  enum Code: String, Sendable, CaseIterable {
    /// Many different URLs gave the same bytes.
    case sameSource = "same-source"
    /// Something that is not the program's has the name of the job's page.
    case pageObstacle = "page-obstacle"
  }

  /// For people.
  let message: String

  /// Where the first row that it concerns is in the report, or a place in the manifest.
  let place: String

  let json: JSONValue

  init(code: Code, message: String, place: String) {
    self.message = message
    self.place = place
    json = .object(["code": .string(code.rawValue), "message": .string(message), "where": .string(place)])
  }

  package init(_ warning: ManifestWarning) {
    message = warning.message
    place = warning.place.description
    json = warning.json
  }
}
