/// A doubt about a readable manifest.
package struct ManifestWarning: Sendable, Equatable, CustomStringConvertible {
  /// The kind of warning; the raw values are the report's.
  package enum Code: String, Sendable, CaseIterable {
    /// A column that is not a field but nearly has the name of one.
    case unknownColumn = "unknown-column"
    /// An entry has the name of a field of the manifest or of entries, which it may have been meant to be.
    case misplacedField = "misplaced-field"
    /// The file is not UTF-8, and was read in another encoding.
    case encoding
    /// A name that other systems cannot store was replaced by one that is taken, and so got a number; or a derived name of the
    /// last run was not kept, because it is taken.
    case nameClash = "name-clash"
    /// Parts of a name were replaced, because other systems cannot store it.
    case nameChanged = "name-changed"
    /// The field `metadata` has a value of the option `--metadata`.
    case metadataPolicy = "metadata-policy"
    /// A file of a source folder was left out.
    case leftOut = "left-out"
    /// A source folder has no file that counts.
    case noFiles = "no-files"
    /// The last run of the job had a manifest of another format.
    case otherManifest = "other-manifest"
    /// Options of aria2 in a list that have no meaning here.
    case ignoredOption = "ignored-option"
    /// Entries have the same `cache-key`, but their URLs differ in more than their queries.
    case sharedKey = "shared-key"
  }

  /// The beginning of the warning that counts the files of a folder that are no pictures.
  package static let skippedStart = "skipped as no pictures, by their names:"

  /// Whether a message says something that none of the reported ones says: a count may have changed, and a kind of file may be
  /// missing.
  package static func isNew(_ message: String, after reported: Set<String>) -> Bool {
    guard message.hasPrefix(skippedStart) else { return !reported.contains(message) }
    return !reported.contains { $0.hasPrefix(skippedStart) && kinds(in: message).isSubset(of: kinds(in: $0)) }
  }

  /// The kinds of skipped files: what follows the numbers in parentheses.
  private static func kinds(in message: String) -> Set<Substring> {
    let list = message.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
    return Set(list.split(separator: ", ").map { $0.drop { $0 != " " } })
  }

  /// The most warnings of a manifest that are reported.
  package static let reportLimit = 100

  package let code: Code
  package let message: String
  package let location: ManifestProblem.Location

  /// Whether its subject may be a secret. The message does not show it.
  package let concernsSecrets: Bool

  /// - Parameter concernsSecrets: Default: false.
  package init(_ code: Code, _ message: String, at location: ManifestProblem.Location, concernsSecrets: Bool = false) {
    self.code = code
    self.message = message
    self.location = location
    self.concernsSecrets = concernsSecrets
  }

  package var description: String { location.description.isEmpty ? message : "\(location): \(message)" }
}
