/// An entry that is to be tried again at a host, as far as that matters for its turn.
package struct Retry: Equatable, Comparable, Sendable {
  package let key: EntryKey

  /// The number of the host.
  package let host: Int

  /// How often its tries failed because the host was closed. Of the entries of a closed host the one with the fewest is
  /// tried first.
  package let holds: Int

  /// Whether it has a mirror after the URL in use.
  package let hasMirror: Bool

  package init(key: EntryKey, host: Int, holds: Int = 0, hasMirror: Bool = false) {
    self.key = key
    self.host = host
    self.holds = holds
    self.hasMirror = hasMirror
  }

  package static func < (a: Retry, b: Retry) -> Bool { a.key < b.key }
}
