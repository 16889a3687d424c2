import Ledger

/// Which causes suspend the queues, since when, and what that means for a job.
struct PauseTracker {
  /// What has changed with an update.
  struct Change: Sendable, Equatable {
    var began: [PauseCause] = []
    var ended: [PauseCause] = []
  }

  /// The causes that hold now, and since when.
  private var current: [String: (cause: PauseCause, since: Int)] = [:]

  /// The last pauses that have ended, for jobs that were not live meanwhile: at most 32.
  private var past: [LedgerPause] = []

  var isPaused: Bool { !current.isEmpty }

  /// Whether there is a cause, and none of another kind.
  func isPaused(onlyBy kind: String) -> Bool { isPaused && current.values.allSatisfy { $0.cause.kind == kind } }

  /// The causes that hold now, in words: a few, and how many more.
  var description: String {
    let causes = current.values.map(\.cause.description).sorted()
    let shown = causes.prefix(Self.shownCauses).joined(separator: ", ")
    return causes.count > Self.shownCauses ? "\(shown) and \(causes.count - Self.shownCauses) more" : shown
  }

  private static let shownCauses = 5

  /// Updates the causes that hold now.
  mutating func update(_ causes: [PauseCause], at now: Int) -> Change {
    var change = Change()
    let wanted = Dictionary(causes.map { (Self.key($0), $0) }, uniquingKeysWith: { first, _ in first })
    for (key, held) in current where wanted[key] == nil {
      current[key] = nil
      change.ended.append(held.cause)
      past = past.suffix(31) + [Self.pause(held, ended: now)]
    }
    for (key, cause) in wanted {
      if let held = current[key] {
        // A lock may get its reason after it was seen.
        current[key] = (cause.reason == nil ? held.cause : cause, held.since)
      } else {
        current[key] = (cause, now)
        change.began.append(cause)
      }
    }
    return change
  }

  /// The pauses that hold now, for a job that began at `start`.
  func open(since start: Int) -> [LedgerPause] {
    current.values.map { Self.pause($0).clipped(to: start) }
  }

  /// The pauses that ended after `start`, for a job that began then.
  func ended(since start: Int) -> [LedgerPause] {
    past.filter { $0.ended ?? .max > start }.map { $0.clipped(to: start) }
  }

  private static func pause(_ held: (cause: PauseCause, since: Int), ended: Int? = nil) -> LedgerPause {
    LedgerPause(
      cause: held.cause.kind, lock: held.cause.lock, reason: held.cause.reason, began: held.since, ended: ended)
  }

  /// Takes over the beginning of a pause that held before.
  /// - Returns: Whether its cause holds now.
  mutating func adopt(_ pause: LedgerPause) -> Bool {
    let key = pause.cause + "/" + pause.lock
    guard let held = current[key] else { return false }
    current[key] = (held.cause, min(held.since, pause.began))
    return true
  }

  private static func key(_ cause: PauseCause) -> String { cause.kind + "/" + cause.lock }
}

/// A clock that stops during pauses, in milliseconds.
struct ActiveTime: Equatable {
  private var paused = 0

  /// When it stopped; nil while it runs.
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

  /// The total time of pauses.
  func paused(_ now: Int) -> Int { paused + (since.map { now - $0 } ?? 0) }
}
