import Database
import Model
import Scheduling

/// Entries with variants. Each variant has a row. The first pending one downloads the source, and the others wait for
/// that, outside the scheduler's ranking. Retries, the window and recovery therefore need no rules for variants.
extension JobIndex {
  private static let rowsOfEntry = "position >= ?1 AND position < ?1 + \(EntryVariant.limit) AND first_row = ?1"

  /// Gives an entry and its variants free names.
  /// - Parameters:
  ///   - base: The entry's name. It gets a number if it or the name of a variant is taken.
  ///   - first: The position of its first variant.
  /// - Returns: The entry's final name.
  func settleVariants(of base: String, first: Int) throws -> String {
    let variants = try variants(first: first)
    let claimed = OutputName.claim(base)
    var (name, suffix) = (base, 1)
    while try !takeNames(name, first: first, variants) {
      if suffix == 1 {
        suffix =
          try database.first("SELECT suffix FROM claims WHERE claim = ?", [.text(claimed)]) { $0.integer(0) - 1 } ?? 1
      }
      suffix += 1
      name = "\(base)-\(suffix)"
    }
    guard name != base else { return name }
    try database.run("UPDATE claims SET suffix = ? WHERE claim = ?", [.integer(suffix + 1), .text(claimed)])
    try rename(variants, to: name)
    return name
  }

  /// Gives an entry and its variants a name, if all names are free.
  /// - Parameter base: The entry's name before.
  /// - Returns: Whether they were.
  func takeVariantNames(_ name: String, insteadOf base: String, first: Int) throws -> Bool {
    let variants = try variants(first: first)
    guard try takeNames(name, first: first, variants) else { return false }
    if name != base { try rename(variants, to: name) }
    return true
  }

  private typealias Variant = (position: Int, name: String)

  private func variants(first: Int) throws -> [Variant] {
    try database.all("SELECT position, variant FROM entries WHERE \(Self.rowsOfEntry)", [.integer(first)]) {
      ($0.integer(0), $0.text(1) ?? "")
    }
  }

  private func rename(_ variants: [Variant], to name: String) throws {
    for variant in variants {
      try database.run(
        "UPDATE entries SET name = ?, original = iif(explicit = 0, ?, original) WHERE position = ?",
        [.text(Entry.name(name, variant.name)), .text(name), .integer(variant.position)])
    }
  }

  /// - Returns: Whether the names of the entry and its variants were free. If not, none is claimed.
  private func takeNames(_ name: String, first: Int, _ variants: [Variant]) throws -> Bool {
    var claims = [(text: OutputName.claim(name), position: first)]
    claims += variants.map { (OutputName.claim(Entry.name(name, $0.name)), $0.position) }
    for claim in claims {
      let isTaken = try database.first("SELECT 1 FROM claims WHERE claim = ?", [.text(claim.text)]) { _ in true }
      if isTaken == true { return false }
    }
    for (text, position) in claims { _ = try claim(text, for: position) }
    return true
  }

  /// Makes dependents of an entry with variants wait for all of them. Names of variants' results are not entries.
  func resolveVariants() throws {
    let outputs = try database.all(
      """
      SELECT DISTINCT claim, entries.name FROM dependency_names JOIN claims USING (claim)
        JOIN entries ON entries.position = claims.position WHERE variant IS NOT NULL
      """
    ) { (claim: $0.text(0) ?? "", name: $0.text(1) ?? "") }
    for output in outputs where OutputName.claim(output.name) == output.claim {
      try database.run("UPDATE dependency_names SET is_known = 2 WHERE claim = ?", [.text(output.claim)])
    }
    try database.run(
      """
      INSERT OR IGNORE INTO dependencies
        SELECT dependencies.position, entries.position FROM dependencies JOIN entries
        ON entries.position > dependency AND entries.position < dependency + \(EntryVariant.limit)
          AND first_row = dependency
      """)
  }

  /// Removes the variants that wait for the first pending one of their entry from the order of their hosts. Must be
  /// called before `holdDependents`, since a variant waits only for the first.
  /// - Returns: The number of waiting variants.
  package func holdVariants() throws -> Int {
    guard hasVariants else { return 0 }
    try database.run(
      """
      UPDATE entries SET state = \(State.heldVariant)
      WHERE state = \(State.pending) AND first_row IS NOT NULL AND EXISTS (
        SELECT 1 FROM entries AS earlier
        WHERE earlier.position >= entries.first_row AND earlier.position < entries.position
          AND earlier.state = \(State.pending))
      """)
    return database.changes
  }

  /// The variants that wait for a variant of their entry, in the manifest's order; empty unless that was the first
  /// pending one when the job was planned.
  package func heldVariants(of row: Entry) throws -> [EntryKey] {
    guard let first = row.firstRow else { return [] }
    return try database.all(
      """
      SELECT priority, position FROM entries WHERE \(Self.rowsOfEntry) AND position > ?2
        AND state = \(State.heldVariant)
        AND (SELECT state FROM entries WHERE position = ?2) IN (\(State.pending), \(State.held))
      ORDER BY position
      """, [.integer(first), .integer(row.position)]
    ) { EntryKey(priority: $0.integer(0), position: $0.integer(1)) }
  }
}
