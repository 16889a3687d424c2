/// An entry that is to be tried again at a host, as far as that matters for its turn.
package struct Retry: Equatable, Comparable, Sendable {
  package let key: EntryKey

  /// The number of the host.
  package let host: Int

  package init(key: EntryKey, host: Int) {
    self.key = key
    self.host = host
  }

  package static func < (a: Retry, b: Retry) -> Bool { a.key < b.key }
}
