import CSQLite

/// A prepared statement; finalised when released.
package final class Statement {
  private let handle: OpaquePointer
  private unowned let database: Database

  /// The bytes of the bound texts, until `reset`. SQLite would allocate memory for each.
  private var texts = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: keptBytes.lowerBound)

  /// How many bytes are kept for the next use: no fewer, no more.
  private static let keptBytes = 256...(16 << 10)

  init(_ handle: OpaquePointer, database: Database) { (self.handle, self.database) = (handle, database) }

  deinit {
    sqlite3_finalize(handle)
    texts.deallocate()
  }

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
    reserveTexts(values)
    var used = 0
    for (position, value) in zip(Int32(1)..., values) {
      let code =
        switch value {
        case .null: sqlite3_bind_null(handle, position)
        case .integer(let integer): sqlite3_bind_int64(handle, position, Int64(integer))
        case .text(var text): text.withUTF8 { bind($0, to: position, &used) }
        }
      guard code == SQLITE_OK else { throw database.failure(code) }
    }
  }

  private func reserveTexts(_ values: [SQLiteValue]) {
    let bytes = values.reduce(0) { if case .text(let text) = $1 { $0 + text.utf8.count } else { $0 } }
    if bytes > texts.count { resizeTexts(bytes) }
  }

  private func resizeTexts(_ bytes: Int) {
    texts.deallocate()
    texts = .allocate(capacity: bytes)
  }

  /// - Parameter used: The bytes of `texts` that are in use.
  private func bind(_ text: UnsafeBufferPointer<UInt8>, to position: Int32, _ used: inout Int) -> Int32 {
    let copy = UnsafeMutableBufferPointer(rebasing: texts[used..<(used + text.count)])
    _ = copy.initialize(from: text)
    used += text.count
    return csqlite_bind_text(handle, position, copy.baseAddress, Int32(text.count))
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
    if texts.count > Self.keptBytes.upperBound { resizeTexts(Self.keptBytes.lowerBound) }
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
