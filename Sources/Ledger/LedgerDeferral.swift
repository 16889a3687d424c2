import Database

/// An entry of a live job that is tried again later.
package struct LedgerDeferral: Sendable, Equatable, DatabaseRecord {
  /// Position in the manifest, from 0.
  package let position: Int

  package let attempts: Int

  /// When it is tried again, in milliseconds since 1970, UTC.
  package let due: Int

  /// How long it was to wait, in milliseconds: the clock may be set meanwhile.
  package let wait: Int

  /// When it was first tried, in milliseconds since 1970, UTC.
  package let firstTried: Int

  package init(position: Int, attempts: Int, due: Int, wait: Int, firstTried: Int) {
    self.position = position
    self.attempts = attempts
    self.due = due
    self.wait = wait
    self.firstTried = firstTried
  }

  /// Selects deferrals whose entries have had no outcome since.
  static let isOpen = """
    NOT EXISTS (SELECT 1 FROM entries WHERE entries.run_id = deferred.run_id AND entries.position = deferred.position)
    """

  package static let columns: Columns = ["position", "attempts", "due_ms", "wait_ms", "first_ms"]

  package init(_ row: Statement) {
    self.init(
      position: row.integer(0), attempts: row.integer(1), due: row.integer(2), wait: row.integer(3),
      firstTried: row.integer(4))
  }

  package var values: [SQLiteValue] { [position, attempts, due, wait, firstTried].map { .integer($0) } }
}
