import Ledger

/// The pauses of one run, as its report and the ledger have them. A lock that is created and removed repeatedly would fill both:
/// pauses of one cause between which less than `spacing` passes are one, and a cause that has many adds to its last. Beyond
/// `totalLimit`, pauses are left out.
struct PauseLog: Equatable {
  /// The least time between two pauses of one cause, in milliseconds.
  static let spacing = 2000

  /// How many pauses of one cause and lock are kept apart.
  static let limit = 100

  /// How many pauses a run has at most.
  static let totalLimit = 1000

  private struct Key: Hashable {
    let cause: String
    let lock: String
  }

  private struct Logged: Equatable {
    /// The number of pauses that were logged before it.
    let number: Int
    var pause: LedgerPause
  }

  /// By their beginning, apart for each cause and lock: there may be many locks, of which one begins or ends.
  private var logged: [Key: [Logged]] = [:]

  private var count = 0

  /// By their beginning.
  var pauses: [LedgerPause] {
    logged.values.joined().sorted { ($0.pause.began, $0.number) < ($1.pause.began, $1.number) }.map(\.pause)
  }

  /// Adds a pause, or its end.
  /// - Returns: The pause as it is now, with the beginning under which the ledger has it; nil when it is left out.
  mutating func record(_ pause: LedgerPause) -> LedgerPause? {
    let key = Key(cause: pause.cause, lock: pause.lock)
    let same = logged[key] ?? []
    if let index = same.firstIndex(where: { $0.pause.began == pause.began }) {
      logged[key]?[index].pause = pause
      return pause
    }
    guard let index = same.lastIndex(where: { $0.pause.began < pause.began }),
      Self.isClose(same[index].pause, pause) || same.count >= Self.limit
    else {
      guard count < Self.totalLimit else { return nil }
      let index = same.firstIndex { $0.pause.began > pause.began } ?? same.endIndex
      logged[key, default: []].insert(Logged(number: count, pause: pause), at: index)
      count += 1
      return pause
    }
    let last = same[index].pause
    let longer = LedgerPause(
      cause: last.cause, lock: last.lock, reason: pause.reason ?? last.reason, began: last.began,
      ended: pause.ended.map { max($0, last.ended ?? $0) })
    logged[key]?[index].pause = longer
    return longer
  }

  private static func isClose(_ last: LedgerPause, _ next: LedgerPause) -> Bool {
    last.ended.map { next.began - $0 < spacing } ?? true
  }
}
