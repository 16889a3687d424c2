/// Something about a manifest that is doubtful, although it can be read.
package struct ManifestWarning: Sendable, Equatable, CustomStringConvertible {
  /// What kind of warning it is; the raw values are the report's.
  package enum Code: String, Sendable, CaseIterable {
    /// A column that is no field, and has nearly the name of one.
    case unknownColumn = "unknown-column"
    /// The file is not UTF-8, and was read in another encoding.
    case encoding
    /// A name that other systems cannot store was replaced by one that is taken, and so got a number; or a derived name of the
    /// last run was not kept, because it is taken.
    case nameClash = "name-clash"
    /// A file of a folder that is the source was left out.
    case leftOut = "left-out"
    /// A folder that is the source has no file that is meant.
    case noFiles = "no-files"
    /// The last run of the job was of a manifest in another format.
    case otherManifest = "other-manifest"
    /// Options of aria2 in a list that mean nothing here.
    case ignoredOption = "ignored-option"
    /// Entries have the same `cache-key`, and their URLs differ in more than their queries.
    case sharedKey = "shared-key"
  }

  /// More warnings of one manifest than this are not reported.
  package static let reportLimit = 100

  package let code: Code
  package let message: String
  package let place: ManifestProblem.Place

  /// Whether what it is about may be something that only the manifest's owner is to read. The message does not show it.
  package let concernsSecrets: Bool

  /// - Parameter concernsSecrets: Default: false.
  package init(_ code: Code, _ message: String, at place: ManifestProblem.Place, concernsSecrets: Bool = false) {
    self.code = code
    self.message = message
    self.place = place
    self.concernsSecrets = concernsSecrets
  }

  package var description: String {
    place.description.isEmpty ? message : "\(place): \(message)"
  }
}
