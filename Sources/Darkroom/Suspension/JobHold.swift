import Scheduling

/// Why a job waits that can neither begin nor end now, and until when it is not tried again.
struct JobHold: Equatable {
  var reason: String

  /// How often it was tried in a row.
  var attempts = 1

  /// When it is tried again, as `Clock.monotonicSeconds`.
  var due: Double

  /// How many bytes must be free in the state folder's file system before; nil when that does not matter.
  var space: Int?

  /// - Parameter last: What held it before; nil when nothing did.
  init(_ reason: String, after last: JobHold?, space: Int? = nil, now: Double) {
    self.reason = reason
    attempts = (last?.attempts ?? 0) + 1
    due = space == nil ? now + LocalBackoff.seconds(attempts: attempts) : now
    self.space = space
  }

  /// Whether it is not tried now.
  /// - Parameter free: The bytes that are free in the state folder's file system.
  func holds(now: Double, free: Int) -> Bool { now < due || space.map { $0 > free } == true }
}
