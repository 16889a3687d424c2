import Manifests
import Model
import Transfer

/// Where an entry stands in its manifest, and the name that it is given there. That is not kept while entries are read, since a
/// manifest may have a million: it is read again for those that a message is about.
package struct EntryOrigin {
  package let place: ManifestProblem.Place

  /// Empty when it is given none.
  let name: String

  /// Finds entries by the positions of their rows.
  /// - Parameter read: Reads the manifest from its beginning, as it was read before.
  package static func all(
    of wanted: Set<Int>, read: ((ManifestItem) throws -> Void) throws -> Void
  ) throws -> [Int: EntryOrigin] {
    var (origins, position) = ([Int: EntryOrigin](), 0)
    do {
      try read { item in
        switch item {
        case .defaults, .warning, .source: return
        case .entry(let value, let key, let place):
          let rows = position..<position + value.rowCount
          for row in rows where wanted.contains(row) {
            origins[row] = EntryOrigin(place: place, name: value["name"]?.string ?? key ?? "")
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

  /// A name as messages show it, without secrets.
  package static func shown(_ name: String) -> String {
    let name = SourceLocation.redacted(name: name)
    return name.count > 80 ? name.prefix(80) + "…" : name
  }
}
