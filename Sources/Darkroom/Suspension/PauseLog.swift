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

  /// By their beginning.
  private(set) var pauses: [LedgerPause] = []

  /// Adds a pause, or its end.
  /// - Returns: The pause as it is now, with the beginning under which the ledger has it; nil when it is left out.
  mutating func record(_ pause: LedgerPause) -> LedgerPause? {
    let same = pauses.indices.filter { (pauses[$0].cause, pauses[$0].lock) == (pause.cause, pause.lock) }
    if let place = same.first(where: { pauses[$0].began == pause.began }) {
      pauses[place] = pause
      return pause
    }
    guard let place = same.last(where: { pauses[$0].began < pause.began }),
      Self.isClose(pauses[place], pause) || same.count >= Self.limit
    else {
      guard pauses.count < Self.totalLimit else { return nil }
      let place = pauses.firstIndex { $0.began > pause.began } ?? pauses.endIndex
      pauses.insert(pause, at: place)
      return pause
    }
    let last = pauses[place]
    pauses[place] = LedgerPause(
      cause: last.cause, lock: last.lock, reason: pause.reason ?? last.reason, began: last.began,
      ended: pause.ended.map { max($0, last.ended ?? $0) })
    return pauses[place]
  }

  private static func isClose(_ last: LedgerPause, _ next: LedgerPause) -> Bool {
    last.ended.map { next.began - $0 < spacing } ?? true
  }
}
