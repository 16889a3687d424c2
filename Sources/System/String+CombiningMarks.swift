/// Limits for combining marks, such as accents, that follow each other. To compare, hash or normalise a text Swift sorts each such
/// run, which takes time in proportion to the square of its length: 80 KB of marks take seconds.
extension String {
  /// The most marks in a run. No language needs more than a few; Unicode's stream-safe text has 30 (UAX #15).
  package static let markLimit = 128

  package static let tooManyMarksMessage =
    "a text has more than \(markLimit) combining marks, such as accents, in a row"

  /// Whether a run of marks is longer than `markLimit`.
  package var hasTooManyMarks: Bool {
    // A mark has two bytes or more.
    guard utf8.count > 2 * Self.markLimit, utf8.contains(where: { $0 >= 0x80 }) else { return false }
    var run = 0
    for scalar in unicodeScalars {
      run = scalar.isCombiningMark ? run + 1 : 0
      if run > Self.markLimit { return true }
    }
    return false
  }
}

extension Unicode.Scalar {
  /// Whether it is sorted among those around it (its canonical combining class is not 0).
  package var isCombiningMark: Bool { value >= 0x300 && properties.canonicalCombiningClass != .notReordered }
}
