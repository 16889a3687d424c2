@testable import Darkroom

extension JobWork {
  /// Begins all that is left, as if every download ended at once.
  func everything() throws -> [JobIndexRow] {
    var rows: [JobIndexRow] = []
    while let next = try next(now: 0, perHost: 1) {
      rows.append(next.row)
      try leave(next.row.position)
      end(next.row.position)
    }
    return rows
  }

  /// An entry's download has ended, at 0 milliseconds unless said otherwise.
  @discardableResult
  func leave(
    _ position: Int, _ answer: HostTurns.Answer = .served, _ usage: Usage = Usage(), now: Int = 0
  ) throws -> Double? {
    try leave(position, usage, answer, now: now, backoff: Backoff(retries: 3))
  }
}
