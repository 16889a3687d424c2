/// A clock that stands still during pauses, in milliseconds.
struct ActiveTime: Equatable {
  private var paused = 0
  private var since: Int?

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
}
