import Database
import Model

/// What is asked of the index when a manifest is divided into shards. Call after `settleNames`.
extension JobIndex {
  /// Calls `body` with the host of each row; 0 for a URL that names none.
  package func eachHostOfRow(_ body: (Int) throws -> Void) throws {
    try database.run("SELECT host FROM entries") { try body($0.integer(0)) }
  }

  /// Calls `body` with each row that waits for another, and the row for which it waits.
  package func eachDependency(_ body: (_ position: Int, _ dependency: Int) throws -> Void) throws {
    guard hasDependencies else { return }
    try database.run("SELECT position, dependency FROM dependencies") { try body($0.integer(0), $0.integer(1)) }
  }

  /// The host and the final name, without that of a variant, of the line with a row; nil when there is no such row.
  package func line(at position: Int) throws -> (host: Int, name: String)? {
    try database.first("SELECT host, name, variant FROM entries WHERE position = ?", [.integer(position)]) { row in
      (row.integer(0), Self.lineName(row.text(1), variant: row.text(2)))
    }
  }

  /// The final names of the lines that must succeed before a row's, in the manifest's order.
  package func finalDependencyNames(of position: Int) throws -> [String] {
    guard hasDependencies else { return [] }
    let names = try database.all(
      """
      SELECT name, variant FROM dependencies JOIN entries ON entries.position = dependency
      WHERE dependencies.position = ? ORDER BY dependency
      """, [.integer(position)]
    ) { Self.lineName($0.text(0), variant: $0.text(1)) }
    // Variants of a line follow one another.
    return names.indices.filter { $0 == 0 || names[$0 - 1] != names[$0] }.map { names[$0] }
  }

  private static func lineName(_ name: String?, variant: String?) -> String {
    variant.map { Entry.lineName(name ?? "", variant: $0) } ?? name ?? ""
  }
}
