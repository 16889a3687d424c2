import Imaging
import Transfer

/// One line of a manifest, checked, with everything that it leaves out filled in.
struct Entry: Sendable, Equatable {
  /// When an entry is worked on, relative to the others of its manifest.
  enum Priority: String, Sendable, CaseIterable {
    case veryHigh, high, normal, low, veryLow

    /// From 0 (`veryHigh`) to 4 (`veryLow`).
    var turn: Int { Self.allCases.firstIndex(of: self) ?? 2 }
  }

  /// Place in the manifest, from 0.
  let position: Int

  /// The URL in use, as it was written: of several mirrors one. It may hold secrets.
  let url: String

  /// The mirrors that come after it.
  var mirrors: [String] = []

  /// How it is asked for. It may hold secrets.
  var request = SourceRequest.plain

  /// The output's path beneath `images/`, without extension; unique in its job.
  var name: String

  /// The name as it was written, when that is not `name`.
  var originalName: String?

  let recipe: Recipe
  let options: OutputOptions
  let priority: Priority

  /// The digest that the downloaded bytes must have; nil for any.
  let checksum: Checksum?

  /// Any JSON, copied to the report.
  let metadata: JSONValue?
}
