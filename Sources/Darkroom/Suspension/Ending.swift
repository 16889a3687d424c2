/// When and why the program ends, once it has begun to stop. Times are seconds of the monotonic clock.
struct Ending {
  let reason: Gate.Stop

  /// When running operations are cancelled.
  let deadline: Double

  /// How long after the deadline anything is awaited. Planning and reading a file may not notice that they are cancelled; the next
  /// start goes on with what they have begun.
  static let lastWait = 5.0

  /// Whether the program ends now.
  /// - Parameters:
  ///   - isBusy: Whether jobs are being planned, or entries are in progress.
  ///   - isDelivered: Whether nothing is being delivered.
  func isOver(isBusy: Bool, isDelivered: Bool, now: Double) -> Bool {
    now >= deadline + Self.lastWait || !isBusy && isDelivered
  }
}
