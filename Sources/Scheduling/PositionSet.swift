/// A set of positions in a manifest, with one bit for each position up to the last.
package struct PositionSet: Sendable {
  private var words: [UInt64] = []

  package init() {}

  /// - Returns: Whether it is new.
  @discardableResult
  package mutating func insert(_ position: Int) -> Bool {
    let (word, bit) = (position / 64, UInt64(1) << UInt64(position % 64))
    if word >= words.count { words += Array(repeating: 0, count: word + 1 - words.count) }
    guard words[word] & bit == 0 else { return false }
    words[word] |= bit
    return true
  }

  package func contains(_ position: Int) -> Bool {
    let word = position / 64
    return word < words.count && words[word] & (1 << UInt64(position % 64)) != 0
  }
}
