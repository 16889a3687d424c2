/// Suggests a known name for a misspelt one.
package enum NearestName {
  /// Returns a message such as `unknown field "filtres"; did you mean "filters"?`, or one with the list of known names when none is near.
  package static func unknown(_ what: String, _ name: String, among known: [String]) -> String {
    let message = "unknown \(what) \"\(name)\""
    return nearest(to: name, among: known).map { "\(message); did you mean \"\($0)\"?" }
      ?? "\(message); known: \(known.joined(separator: ", "))"
  }

  /// Returns the candidate with the smallest edit distance to a name, case-insensitively, the first of several; nil when
  /// all differ in more than half of their letters.
  package static func nearest(to name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars.prefix(64))
    let scored = candidates.map { (name: $0, distance: distance(wanted, Array($0.lowercased().unicodeScalars))) }
    guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance * 2 <= max(wanted.count, best.name.unicodeScalars.count) ? best.name : nil
  }

  /// The optimal string alignment distance: insertions, deletions, substitutions and transpositions count 1 each.
  private static func distance(_ a: [UnicodeScalar], _ b: [UnicodeScalar]) -> Int {
    var (earlier, previous) = ([Int](), Array(0...b.count))
    for row in a.indices {
      var current = [row + 1]
      for column in b.indices {
        var least = min(
          previous[column] + (a[row] == b[column] ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, a[row] == b[column - 1], a[row - 1] == b[column] {
          least = min(least, earlier[column - 1] + 1)
        }
        current.append(least)
      }
      (earlier, previous) = (previous, current)
    }
    return previous[b.count]
  }
}
