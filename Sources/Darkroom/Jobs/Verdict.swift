import Scheduling

/// What becomes of an entry both of whose operations have ended.
enum Verdict: Equatable {
  /// Its row is delivered.
  case deliver
  /// It is tried again after so many seconds.
  case retry(after: Double)
  /// It is tried at once with its next mirror.
  case useMirror
  /// It is tried again when there is space.
  case waitForSpace
  /// It is started again; the last try does not count.
  case restart
  /// It is left for the next start.
  case leave
}

/// An entry both of whose operations have ended, as far as it matters for what becomes of it.
struct EndedEntry: Equatable {
  var state: PhotoRecord.State
  var failure: EntryFailure?

  /// How often it was tried, as far as that counts.
  var attempts: Int

  /// Whether it has a URL that was not tried.
  var hasMirror: Bool

  /// What its host allows.
  var throttle: Throttle
}

extension Verdict {
  /// - Parameter now: Milliseconds of the clock of the throttle.
  init(on entry: EndedEntry, backoff: Backoff, isStopping: Bool, now: Int) {
    switch entry.failure?.disposition {
    case .waitForSpace: self = .waitForSpace
    case .restart: self = .restart
    case .retry(let asked):
      self = .afterFailure(entry, delay: backoff.delay(attempts: entry.attempts, asked: asked), isStopping)
    case .hostRefused:
      // That is the host's affair: the entry is given up only when the host has refused too often in a row.
      let isGivenUp = entry.throttle.refusals > backoff.retries
      let wait = Double(max(0, entry.throttle.until - now)) / 1000
      self = .afterFailure(entry, delay: isGivenUp ? nil : wait, isStopping)
    case .final: self = .afterFailure(entry, delay: nil, isStopping)
    case nil: self = isStopping && entry.state != .filtered ? .leave : .deliver
    }
  }

  /// - Parameter delay: How long to wait before the next try; nil when its URL is not tried again.
  private static func afterFailure(_ entry: EndedEntry, delay: Double?, _ isStopping: Bool) -> Verdict {
    let mayUseMirror = entry.hasMirror && entry.failure?.code.stage == .download
    guard delay != nil || mayUseMirror else { return .deliver }
    if isStopping { return .leave }
    return delay.map { .retry(after: $0) } ?? .useMirror
  }
}
