/// Suggests a known name for a misspelt one.
package enum NearestName {
  /// Returns a message such as `unknown field "filtres"; did you mean "filters"?`, or one with all known names when none is
  /// near.
  package static func unknown(_ what: String, _ name: String, among known: [String]) -> String {
    let message = "unknown \(what) \"\(name)\""
    return nearest(to: name, among: known).map { "\(message); did you mean \"\($0)\"?" }
      ?? "\(message); known: \(known.joined(separator: ", "))"
  }

  /// Returns the candidate with the smallest edit distance to a name, case-insensitively, the first of several; when all
  /// differ in more than a third of their letters, the only one that begins as the name does (`gray` or `grey` for
  /// `grayscale`), if there is one.
  package static func nearest(to name: String, among candidates: [String]) -> String? {
    let wanted = Array(name.lowercased().unicodeScalars.prefix(64))
    let scored = candidates.map { (name: $0, distance: distance(wanted, Array($0.lowercased().unicodeScalars))) }
    guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
    if best.distance * 3 <= max(wanted.count, best.name.unicodeScalars.count) { return best.name }
    let beginning = candidates.filter { begins($0, with: wanted) }
    return beginning.count == 1 ? beginning[0] : nil
  }

  /// Returns the candidate that a name probably misspells: the same except for spaces, `-`, `_` and case, or with one letter
  /// replaced, missing, added or exchanged with its neighbour; with ten letters or more, two. nil when there is
  /// none.
  package static func misspelt(_ name: String, among candidates: [String]) -> String? {
    let wanted = folded(name)
    let scored = candidates.map { (name: $0, distance: distance(wanted, folded($0))) }
    guard let best = scored.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance <= limit(for: folded(best.name)) ? best.name : nil
  }

  private static func limit(for folded: [UnicodeScalar]) -> Int { folded.count < 10 ? 1 : 2 }

  /// Returns all candidates that a name may misspell, as defined by `misspelt`, in their order.
  package static func allMisspelt(_ name: String, among candidates: [String]) -> [String] {
    let wanted = folded(name)
    return candidates.filter { candidate in
      let other = folded(candidate)
      let limit = Self.limit(for: other)
      return abs(other.count - wanted.count) <= limit && distance(wanted, other) <= limit
    }
  }

  /// Returns the candidate that equals a name except for spaces, `-`, `_` and case; nil when there is none.
  package static func respelt(_ name: String, among candidates: [String]) -> String? {
    let wanted = folded(name)
    return candidates.first { folded($0) == wanted }
  }

  private static func folded(_ name: String) -> [UnicodeScalar] {
    Array(name.lowercased().unicodeScalars.filter { !" -_".unicodeScalars.contains($0) }.prefix(64))
  }

  /// Whether a candidate begins with three letters or more; of four, one may differ.
  private static func begins(_ candidate: String, with wanted: [UnicodeScalar]) -> Bool {
    guard wanted.count >= 3 else { return false }
    let beginning = Array(candidate.lowercased().unicodeScalars.prefix(wanted.count))
    return distance(wanted, beginning) <= (wanted.count == 3 ? 0 : 1)
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
