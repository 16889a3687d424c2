/// A clock that stands still during pauses, in milliseconds.
struct ActiveTime: Equatable {
  private var paused = 0

  /// Since when it has stood still; nil while it runs.
  private(set) var since: Int?

  /// Records the beginning of a pause, or its end.
  mutating func pause(_ begins: Bool, now: Int) {
    if begins {
      since = since ?? now
    } else if let began = since {
      paused += now - began
      since = nil
    }
  }

  func now(_ now: Int) -> Int { (since ?? now) - paused }

  /// How long it has stood still, all in all.
  func paused(_ now: Int) -> Int { paused + (since.map { now - $0 } ?? 0) }
}
