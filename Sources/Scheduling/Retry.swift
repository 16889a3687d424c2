/// An entry that is to be tried again.
package struct Retry: Equatable, Comparable, Sendable {
  package let key: EntryKey

  /// The number of the host that is asked the next time.
  package let host: Int

  /// How often the entry was tried.
  package let attempts: Int

  /// How many of these tries do not count: its host refused them, or they were another mirror's.
  package let uncounted: Int

  /// Which of its URLs is in use, from 0.
  package let mirror: Int

  /// How often that URL was tried.
  package let attemptsAtMirror: Int

  package init(
    key: EntryKey, host: Int, attempts: Int, uncounted: Int = 0, mirror: Int = 0, attemptsAtMirror: Int = 0
  ) {
    self.key = key
    self.host = host
    self.attempts = attempts
    self.uncounted = uncounted
    self.mirror = mirror
    self.attemptsAtMirror = attemptsAtMirror
  }

  package static func < (a: Retry, b: Retry) -> Bool { a.key < b.key }
}
