/// The order of entries within a job: by priority, then as in the manifest, those that were deferred after all others.
package struct EntryKey: Comparable, Hashable, Sendable {
  /// 0 for the highest priority.
  package let priority: Int

  /// The position in the manifest, from 0.
  package let position: Int

  /// Whether the entry was deferred: entries that were not tried yet come first.
  package let wasDeferred: Bool

  package init(priority: Int, position: Int, wasDeferred: Bool = false) {
    self.priority = priority
    self.position = position
    self.wasDeferred = wasDeferred
  }

  package static func < (a: EntryKey, b: EntryKey) -> Bool {
    if a.wasDeferred != b.wasDeferred, a.priority == b.priority { return b.wasDeferred }
    return (a.priority, a.position) < (b.priority, b.position)
  }
}

/// An entry that is tried again at a host, with what matters for its rank.
package struct Retry: Equatable, Comparable, Sendable {
  package let key: EntryKey

  package let host: Int

  /// How often it was tried at the host; the largest number for an entry that failed while its host served others. Of a closed
  /// host's entries, one with the fewest is tried first.
  package let tries: Int

  /// Whether it failed while its host served others.
  var failsByItself: Bool { tries == .max }

  /// Whether it has a mirror after the URL in use.
  package let hasMirror: Bool

  package init(key: EntryKey, host: Int, tries: Int = 0, hasMirror: Bool = false) {
    self.key = key
    self.host = host
    self.tries = tries
    self.hasMirror = hasMirror
  }

  package static func < (a: Retry, b: Retry) -> Bool { a.key < b.key }

  /// Whether it comes before another as the trial of a closed host: fewer tries, then a higher priority, then any order but that of
  /// the manifest, in which the URLs that a host cannot serve may follow one another.
  func isTried(before other: Retry) -> Bool {
    (tries, key.priority, scattered) < (other.tries, other.key.priority, other.scattered)
  }

  /// The position in an arbitrary order, the same in every process.
  private var scattered: UInt64 { StableHash(position: key.position).value }
}
