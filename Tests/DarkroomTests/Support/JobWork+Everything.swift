@testable import Darkroom

extension JobWork {
  /// Begins all that is left, as if every download ended at once.
  func everything() throws -> [JobIndexRow] {
    var rows: [JobIndexRow] = []
    while let next = try next(now: 0, perHost: 1) {
      rows.append(next.row)
      try leave(next.row.position, Usage())
      end(next.row.position, now: 0)
    }
    return rows
  }
}
