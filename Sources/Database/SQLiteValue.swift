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
