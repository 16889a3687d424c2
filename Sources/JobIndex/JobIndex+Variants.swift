import Database
import Model
import Scheduling

/// Entries with variants. Each variant has a row. The first pending one downloads the source, and the others wait for
/// that, outside the scheduler's ranking. Retries, the window and recovery therefore need no rules for variants.
extension JobIndex {
  private static let rowsOfEntry = "position >= ?1 AND position < ?1 + \(EntryVariant.limit) AND first_row = ?1"

  /// Creates the table that `settleVariants` uses, which `dropVariantSuffixes` removes.
  func prepareVariantSuffixes() throws {
    try database.execute(
      """
      CREATE TABLE variant_suffixes (
        claim TEXT NOT NULL,       -- that of a name which no entry has, since the name of a variant is taken
        variants TEXT NOT NULL,    -- the part after the number; or all variants of an entry, with line feeds
        suffix INTEGER NOT NULL,   -- all numbers before it are known to be taken
        PRIMARY KEY (claim, variants)
      ) STRICT, WITHOUT ROWID
      """)
  }

  func dropVariantSuffixes() throws { try database.execute("DROP TABLE variant_suffixes") }

  /// Gives an entry and its variants free names.
  /// - Parameters:
  ///   - base: The entry's name. It gets a number if it or the name of a variant is taken.
  ///   - first: The position of its first variant.
  /// - Returns: The entry's final name.
  /// - Throws: `SQLiteError`; `CancellationError` soon after `isCancelled` returns true.
  func settleVariants(of base: String, first: Int, isCancelled: () -> Bool) throws -> String {
    let variants = try variants(first: first)
    if try takeNames(base, first: first, variants) { return base }
    let claimed = OutputName.claim(base)
    // Without a row only the name of a variant is taken.
    let next = try database.first("SELECT suffix FROM claims WHERE claim = ?", [.text(claimed)]) { $0.integer(0) }
    let all = variants.map { "\n" + $0.name }.joined()
    var suffix = try next ?? firstSuffix(of: base, claimed, variants, all, isCancelled)
    while try !takeNames("\(base)-\(suffix)", first: first, variants) {
      if isCancelled() { throw CancellationError() }
      suffix += 1
    }
    if next != nil {
      try database.run("UPDATE claims SET suffix = ? WHERE claim = ?", [.integer(suffix + 1), .text(claimed)])
    } else {
      try store(suffix + 1, claimed, all)
    }
    let name = "\(base)-\(suffix)"
    try rename(variants, to: name)
    return name
  }

  /// The number from which `settleVariants` tries numbers for a name that no entry has. All before it are taken: by
  /// names of entries, by those of one of the variants, or for the last entry with the same variants. So the same numbers
  /// are not tried for each of many entries, also when these have different variants.
  private func firstSuffix(
    of base: String, _ claimed: String, _ variants: [Variant], _ all: String, _ isCancelled: () -> Bool
  ) throws -> Int {
    var first = try storedSuffix(claimed, all)
    for part in [""] + variants.map({ Entry.name("", $0.name) }) {
      let stored = try storedSuffix(claimed, part)
      var suffix = stored
      while try isTaken(OutputName.claim("\(base)-\(suffix)\(part)")) {
        if isCancelled() { throw CancellationError() }
        suffix += 1
      }
      if suffix != stored { try store(suffix, claimed, part) }
      first = max(first, suffix)
    }
    return first
  }

  private func storedSuffix(_ claim: String, _ variants: String) throws -> Int {
    try database.first(
      "SELECT suffix FROM variant_suffixes WHERE claim = ? AND variants = ?", [.text(claim), .text(variants)]
    ) { $0.integer(0) } ?? 2
  }

  private func store(_ suffix: Int, _ claim: String, _ variants: String) throws {
    try database.run(
      "INSERT OR REPLACE INTO variant_suffixes VALUES (?, ?, ?)", [.text(claim), .text(variants), .integer(suffix)])
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
    for claim in claims where try isTaken(claim.text) { return false }
    for (text, position) in claims { _ = try claim(text, for: position) }
    return true
  }

  private func isTaken(_ claim: String) throws -> Bool {
    try database.first("SELECT 1 FROM claims WHERE claim = ?", [.text(claim)]) { _ in true } ?? false
  }

  /// Makes dependents of an entry with variants wait for all of them. Names of variants' results are not entries.
  func resolveVariants() throws {
    try database.execute("CREATE TABLE variant_outputs (claim TEXT PRIMARY KEY) STRICT, WITHOUT ROWID")
    try database.run(
      """
      SELECT DISTINCT claim, entries.name FROM dependency_names JOIN claims USING (claim)
        JOIN entries ON entries.position = claims.position WHERE variant IS NOT NULL
      """
    ) { row in
      let (claim, name) = (row.text(0) ?? "", row.text(1) ?? "")
      guard OutputName.claim(name) == claim else { return }
      try database.run("INSERT INTO variant_outputs VALUES (?)", [.text(claim)])
    }
    // One statement for all: there is no index of the claims of these names.
    try database.run("UPDATE dependency_names SET is_known = 2 WHERE claim IN (SELECT claim FROM variant_outputs)")
    try database.execute("DROP TABLE variant_outputs")
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
