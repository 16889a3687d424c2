/// An entry that is to be tried again.
package struct Retry: Equatable, Comparable, Sendable {
  /// Tries that do not count at all if a suspicion becomes an outage of the network.
  package struct Suspected: Equatable, Sendable {
    /// The number of the suspicion.
    package let suspicion: Int
    package let tries: Int

    package init(suspicion: Int, tries: Int) {
      self.suspicion = suspicion
      self.tries = tries
    }
  }

  package let key: EntryKey

  /// The number of the host that is asked the next time.
  package let host: Int

  /// How often the entry was tried.
  package let attempts: Int

  /// How many of these tries do not count: its host refused them, or they were another mirror's.
  package let uncounted: Int

  /// How often the host refused that URL; some of the tries that do not count.
  package let refusals: Int

  /// Which of its URLs is in use, from 0.
  package let mirror: Int

  /// How often that URL was tried.
  package let attemptsAtMirror: Int

  /// When the entry was first tried.
  package let firstTried: Int

  /// Whether the failure of an earlier mirror may pass.
  package let mirrorMayPass: Bool

  /// The last of these tries, as far as they belong to a suspicion; nil when there are none.
  package let suspected: Suspected?

  /// When the entry was started for the first time since it was last deferred, in milliseconds of a clock that the caller
  /// chooses; nil when it was not started since, or its tries are not timed.
  package let roundBegan: Int?

  package init(
    key: EntryKey, host: Int, attempts: Int, uncounted: Int = 0, refusals: Int = 0, mirror: Int = 0,
    attemptsAtMirror: Int = 0,
    firstTried: Int, mirrorMayPass: Bool = false, suspected: Suspected? = nil, roundBegan: Int? = nil
  ) {
    self.key = key
    self.host = host
    self.attempts = attempts
    self.uncounted = uncounted
    self.refusals = refusals
    self.mirror = mirror
    self.attemptsAtMirror = attemptsAtMirror
    self.firstTried = firstTried
    self.mirrorMayPass = mirrorMayPass
    self.suspected = suspected
    self.roundBegan = roundBegan
  }

  package static func < (a: Retry, b: Retry) -> Bool { a.key < b.key }
}
