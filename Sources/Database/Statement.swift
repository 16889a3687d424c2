import CSQLite

/// A prepared statement; finalised when released.
package final class Statement {
  private let handle: OpaquePointer
  private unowned let database: Database

  init(_ handle: OpaquePointer, database: Database) { (self.handle, self.database) = (handle, database) }

  deinit { sqlite3_finalize(handle) }

  /// The integer in a column, 0 when it is null.
  package func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }

  /// The integer in a column, nil when it is null.
  package func optionalInteger(_ column: Int32) -> Int? {
    sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(column)
  }

  /// The text in a column, nil when it is null.
  package func text(_ column: Int32) -> String? {
    guard let bytes = sqlite3_column_text(handle, column) else { return nil }
    let buffer = UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, column)))
    return String(decoding: buffer, as: UTF8.self)
  }

  /// The value in a column; other types count as null.
  package func value(_ column: Int32) -> SQLiteValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_TEXT: .optional(text(column))
    default: .null
    }
  }

  func bind(_ values: [SQLiteValue]) throws {
    for (position, value) in zip(Int32(1)..., values) {
      let code =
        switch value {
        case .null: sqlite3_bind_null(handle, position)
        case .integer(let integer): sqlite3_bind_int64(handle, position, Int64(integer))
        case .text(var text): text.withUTF8 { bind($0, to: position) }
        }
      guard code == SQLITE_OK else { throw database.failure(code) }
    }
  }

  /// Binds a text in place, which a conversion to a C string would copy once more.
  private func bind(_ text: UnsafeBufferPointer<UInt8>, to position: Int32) -> Int32 {
    csqlite_bind_text(handle, position, text.baseAddress, Int32(text.count))
  }

  /// - Returns: Whether there is a row.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw database.failure(code)
    }
  }

  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }
}

/// A value bound to a `?` of a statement.
package enum SQLiteValue: Sendable {
  case null
  case integer(Int)
  case text(String)

  /// `null` for nil.
  package static func optional(_ text: String?) -> SQLiteValue { text.map(SQLiteValue.text) ?? .null }

  /// `null` for nil.
  package static func optional(_ integer: Int?) -> SQLiteValue { integer.map(SQLiteValue.integer) ?? .null }
}
