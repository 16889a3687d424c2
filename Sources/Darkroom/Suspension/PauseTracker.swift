import Ledger

/// Which causes suspend the queues, since when, and what that means for a job.
struct PauseTracker {
  /// What has changed with an update.
  struct Change: Sendable, Equatable {
    var began: [PauseCause] = []
    var ended: [PauseCause] = []

    /// The pauses that have ended, of those before the change.
    func ended(of before: [LedgerPause], at now: Int) -> [LedgerPause] {
      let keys = Set(ended.map { PauseTracker.key($0.kind, $0.lock) })
      return before.filter { keys.contains(PauseTracker.key($0.cause, $0.lock)) }.map { pause in
        var pause = pause
        pause.ended = now
        return pause
      }
    }
  }

  /// The causes that hold now, and since when.
  private var current: [String: (cause: PauseCause, since: Int)] = [:]

  /// The cause that has held for the longest time, of those that began at once the first by its lock's name.
  private(set) var oldest: (cause: PauseCause, since: Int)?

  /// The last pauses that have ended, for jobs that were not live meanwhile: at most 32.
  private var past: [LedgerPause] = []

  var isPaused: Bool { !current.isEmpty }

  /// Whether there is a cause, and none of another kind.
  func isPaused(onlyBy kind: String) -> Bool { isPaused && current.values.allSatisfy { $0.cause.kind == kind } }

  /// Whether a cause holds that is no lock.
  func isPaused(by cause: PauseCause) -> Bool { current[Self.key(cause)] != nil }

  /// The causes that hold now, in words: a few, and how many more.
  var description: String { Self.words(for: current.values.map(\.cause)) }

  /// Causes in words: a few, and how many more.
  static func words(for causes: [PauseCause]) -> String {
    let causes = causes.map(\.description).sorted()
    let shown = causes.prefix(shownCauses).joined(separator: ", ")
    return causes.count > shownCauses ? "\(shown) and \(causes.count - shownCauses) more" : shown
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
    oldest = current.values.min(by: Self.isOlder)
    return change
  }

  /// The pauses that hold now, for a job that began at `start`.
  func open(since start: Int) -> [LedgerPause] {
    // In an order that does not change: of very many a caller takes the first.
    current.values.map { Self.pause($0) }.sorted { ($0.began, $0.lock) < ($1.began, $1.lock) }
      .map { $0.clipped(to: start) }
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
    let key = Self.key(pause.cause, pause.lock)
    guard let held = current[key] else { return false }
    let longer = (cause: held.cause, since: min(held.since, pause.began))
    current[key] = longer
    if let last = oldest, Self.isOlder(longer, last) { oldest = longer }
    return true
  }

  private static func isOlder(_ one: (cause: PauseCause, since: Int), _ other: (cause: PauseCause, since: Int)) -> Bool
  {
    (one.since, one.cause.lock) < (other.since, other.cause.lock)
  }

  private static func key(_ cause: PauseCause) -> String { key(cause.kind, cause.lock) }

  private static func key(_ kind: String, _ lock: String) -> String { kind + "/" + lock }
}

extension PauseTracker.Change {
  /// The most locks that are reported one by one when they appear, or are gone, at once.
  static let singleLocks = 10

  /// The events that report the change.
  /// - Parameter pauses: The pauses after the change.
  func events(in pauses: PauseTracker) -> [Event] {
    let (begun, over) = (Self.grouped(began), Self.grouped(ended))
    var events: [Event] = []
    if let locks = begun.locks { events.append(.pausedByLocks(count: locks.count, names: locks.names)) }
    events += begun.single.map(Event.paused)
    if ended.isEmpty { return events }
    let remaining = pauses.description
    if let locks = over.locks {
      events.append(.locksGone(count: locks.count, names: locks.names, remaining: remaining))
    }
    return events + over.single.map { .causeGone($0, remaining: remaining) }
  }

  /// - Returns: The locks, if there are many, and the causes that are reported one by one.
  private static func grouped(_ causes: [PauseCause]) -> (locks: (count: Int, names: String)?, single: [PauseCause]) {
    let locks = causes.filter { $0.kind == PauseCause.lockKind }
    guard locks.count > singleLocks else { return (nil, causes) }
    return ((locks.count, PauseTracker.words(for: locks)), causes.filter { $0.kind != PauseCause.lockKind })
  }
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
