import Database
import Model
import Scheduling

/// Entries with variants: each variant has a row. The first that is left downloads, the others wait for that, outside the
/// ranking. So variants need no rules of their own for retries, the window and recovery.
extension JobIndex {
  private static let rowsOfEntry = "position >= ?1 AND position < ?1 + \(EntryVariant.limit) AND first_row = ?1"

  /// Gives the variants of an entry names that are free, with that of the entry.
  /// - Parameters:
  ///   - base: The entry's name, which gets a number if it or one of its variants' is taken.
  ///   - first: The position of its first variant.
  /// - Returns: The entry's name.
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

  /// Gives the variants of an entry names with that of the entry, if all are free.
  /// - Parameter base: The name that the entry has until then.
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

  /// - Returns: Whether the name of an entry and those of its variants were free. If not, none is taken.
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

  /// Makes what comes after an entry with variants come after all of them. The name of a variant's result is no entry's.
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

  /// Takes the variants out of what is left to do that wait for the first of their entry that is left. To be called before
  /// those are taken out that wait for other entries: a variant waits for one thing only.
  /// - Returns: How many there are.
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

  /// The variants of an entry that wait for one of them, in the manifest's order: none unless that was the first that was
  /// left when the job was planned.
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
