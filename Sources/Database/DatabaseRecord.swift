/// A type whose values are rows of a table: defines its columns, and how they are written and read.
package protocol DatabaseRecord {
  /// The columns, in the order of `values` and of the positions that `init(_:)` reads.
  static var columns: Columns { get }

  /// Reads a row that was selected with `columns`, from position 0.
  /// - Throws: When the values are invalid: the database is damaged, or from another version.
  init(_ row: Statement) throws

  var values: [SQLiteValue] { get }
}

extension DatabaseRecord {
  /// A query whose rows `init(_:)` reads.
  /// - Parameter rest: The text after the columns, such as `FROM jobs WHERE name = ?`.
  package static func select(_ rest: String) -> String { "SELECT \(columns.names) \(rest)" }
}

/// The names of columns in SQL.
package struct Columns: Sendable, ExpressibleByArrayLiteral {
  /// `a, b, c`
  package let names: String

  /// `?, ?, ?`
  package let placeholders: String

  package let list: [String]

  package var count: Int { list.count }

  package init(arrayLiteral names: String...) {
    list = names
    self.names = names.joined(separator: ", ")
    placeholders = names.map { _ in "?" }.joined(separator: ", ")
  }
}

extension Database {
  /// The records of a query made by `select`.
  package func records<R: DatabaseRecord>(_ sql: String, _ values: [SQLiteValue] = []) throws -> [R] {
    try all(sql, values) { try R($0) }
  }

  /// The first record of a query made by `select`; nil without any.
  package func record<R: DatabaseRecord>(_ sql: String, _ values: [SQLiteValue] = []) throws -> R? {
    try first(sql, values) { try R($0) }
  }
}
