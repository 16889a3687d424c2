import Manifests
import Model
import Transfer

/// The location of an entry in its manifest, and the name that the manifest gives it. These are not kept while entries
/// are read, since a manifest may have a million; the manifest is read again for the entries that a message names.
package struct EntryOrigin {
  package let location: ManifestProblem.Location

  /// The given name; empty when there is none.
  let name: String

  let hasVariants: Bool

  /// Finds entries by the positions of their rows.
  /// - Parameter read: Reads the manifest from its beginning, with the same items as before.
  package static func all(
    of wanted: Set<Int>, read: ((ManifestItem) throws -> Void) throws -> Void
  ) throws -> [Int: EntryOrigin] {
    var (origins, position) = ([Int: EntryOrigin](), 0)
    do {
      try read { item in
        switch item {
        case .defaults, .warning, .source: return
        case .entry(let value, let key, let location):
          let rows = position..<position + value.rowCount
          for row in rows where wanted.contains(row) {
            origins[row] = EntryOrigin(
              location: location, name: value["name"]?.string ?? key ?? "", hasVariants: value["variants"] != nil)
          }
          position = rows.upperBound
        case .unreadable: position += 1
        }
        if origins.count == wanted.count { throw FoundAll() }
      }
    } catch is FoundAll {
    } catch is ManifestProblem {}
    return origins
  }

  private struct FoundAll: Error {}

  /// A name as messages show it: without secrets, and shortened.
  package static func shown(_ name: String) -> String { SourceLocation.redacted(name: name).shortened(to: 80) }
}
