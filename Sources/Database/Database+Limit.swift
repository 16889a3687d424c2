import CSQLite

extension Database {
  /// Runs statements, and interrupts them when they take too long (`sqlite3_progress_handler`), except for `PRAGMA
  /// integrity_check`.
  /// - Parameter isOver: Called every 20 000 steps of SQLite's.
  /// - Returns: nil when they were interrupted.
  package func limited<T>(by isOver: @escaping () -> Bool, _ body: () throws -> T) throws -> T? {
    if isOver() { return nil }
    let question = Question(isOver)
    return try withExtendedLifetime(question) {
      setProgressHandler(Unmanaged.passUnretained(question).toOpaque())
      defer { setProgressHandler(nil) }
      do {
        return try body()
      } catch let error as SQLiteError where error.code & 0xff == SQLITE_INTERRUPT {
        return nil
      }
    }
  }

  /// The context of a C function pointer.
  private final class Question {
    let isOver: () -> Bool

    init(_ isOver: @escaping () -> Bool) { self.isOver = isOver }
  }

  private func setProgressHandler(_ question: UnsafeMutableRawPointer?) {
    guard let question else { return sqlite3_progress_handler(connection, 0, nil, nil) }
    sqlite3_progress_handler(
      connection, 20_000,
      { question in
        guard let question else { return 0 }
        return Unmanaged<Question>.fromOpaque(question).takeUnretainedValue().isOver() ? 1 : 0
      }, question)
  }
}
