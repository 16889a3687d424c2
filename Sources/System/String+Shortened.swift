extension String {
  /// The text, or its beginning with "…" if it is longer. What comes from outside may have any length, and messages must not.
  /// - Parameter limit: The most characters. Default: 1000.
  package func shortened(to limit: Int = 1000) -> String {
    guard utf8.count > limit, let end = index(startIndex, offsetBy: limit, limitedBy: endIndex), end < endIndex else {
      return self
    }
    return self[..<end] + "…"
  }
}
