/// An entry that is deferred: 24 bytes, because there may be very many. Times are milliseconds of any clock.
package struct DeferredEntry: Comparable, Sendable {
  /// When it is to be tried again.
  package let due: Int

  /// When it was first tried.
  package let firstTried: Int

  private let place: UInt32
  private let tries: UInt32

  package init(position: Int, attempts: Int, due: Int, firstTried: Int) {
    place = UInt32(clamping: position)
    tries = UInt32(clamping: attempts)
    self.due = due
    self.firstTried = firstTried
  }

  /// Takes over an entry that an earlier process deferred. The system's clock may have been set since: the wait is not
  /// longer than it was then, and the age not less than nothing.
  /// - Parameters:
  ///   - due: When it is to be tried again, by the system's clock.
  ///   - wait: How long that was to take.
  ///   - firstTried: When it was first tried, by the system's clock.
  ///   - wallNow: What the system's clock says.
  ///   - now: What the clock says of which the entry's times are.
  package init(
    position: Int, attempts: Int, due: Int, wait: Int, firstTried: Int, wallNow: Int, now: Int
  ) {
    self.init(
      position: position, attempts: attempts, due: now + min(max(0, due - wallNow), max(0, wait)),
      firstTried: now - max(0, wallNow - firstTried))
  }

  /// The place in the manifest, from 0.
  package var position: Int { Int(place) }

  /// How often it was tried.
  package var attempts: Int { Int(tries) }

  package static func < (a: DeferredEntry, b: DeferredEntry) -> Bool {
    (a.due, a.place) < (b.due, b.place)
  }
}
