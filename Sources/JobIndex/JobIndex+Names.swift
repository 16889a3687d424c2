import Database
import Manifests
import Model

/// The final names of entries.
extension JobIndex {
  /// An entry that gets its final name. One with variants has the position of the first.
  private struct Named {
    let position: Int

    /// The name without that of a variant.
    let name: String
    let hasVariants: Bool

    /// nil when the name is given.
    let requestDigest: Int?
  }

  /// Gives every entry its final name, in order. The first entry keeps its name, later ones get `-2`, `-3`…. Given
  /// names are final already. The others follow in this order: given names of which parts were replaced, names that
  /// requests had in the job's last run, derived names.
  /// - Returns: The first of the entries whose replaced name, or name in the last run, is taken by another entry.
  /// - Throws: `SQLiteError`; `CancellationError` soon after `isCancelled` returns true.
  package func settleNames(isCancelled: () -> Bool = { false }) throws -> [NameClashes.Renamed] {
    var renamed: [NameClashes.Renamed] = []
    if hasVariants { try prepareVariantSuffixes() }
    try eachNamed("WHERE explicit = 2", isCancelled) { entry in
      let name = try takeFreeName(for: entry, isCancelled)
      guard name != entry.name, renamed.count < ManifestWarning.reportLimit else { return }
      renamed.append(.init(cause: .replaced, position: entry.position, taken: entry.name, name: name))
    }
    if hasLastNames {
      let lost = try settleLastNames(limit: ManifestWarning.reportLimit - renamed.count, isCancelled)
      try eachNamed("JOIN unnamed USING (position) WHERE true", isCancelled) { entry in
        let name = try takeFreeName(for: entry, isCancelled)
        guard let taken = lost[entry.position] else { return }
        renamed.append(.init(cause: .lastRun, position: entry.position, taken: taken, name: name))
      }
      try database.execute("DROP TABLE last_names; DROP TABLE unnamed")
    } else if hasDerivedNames {
      try eachNamed("WHERE explicit = 0", isCancelled) { _ = try takeFreeName(for: $0, isCancelled) }
    }
    if hasVariants { try dropVariantSuffixes() }
    if hasDependencies { try resolveDependencies() }
    if isInMemory { return renamed }
    try database.execute("DROP TABLE claims")
    // From here on the index is read sequentially, and pages are not needed twice.
    try database.execute("PRAGMA cache_size = -256; PRAGMA shrink_memory")
    return renamed
  }

  /// Calls `body` with entries, in the manifest's order.
  /// - Parameter clause: The selection of entries, which ends in a condition that can be continued with `AND`.
  private func eachNamed(_ clause: String, _ isCancelled: () -> Bool, _ body: (Named) throws -> Void) throws {
    var after = -1
    while true {
      let page = try database.all(
        """
        SELECT position, name, variant, request_digest FROM entries \(clause)
        AND position > ? AND (first_row IS NULL OR first_row = position) ORDER BY position LIMIT 1000
        """, [.integer(after)]
      ) { row in
        let (name, variant) = (row.text(1) ?? "", row.text(2))
        return Named(
          position: row.integer(0), name: variant.map { Entry.lineName(name, variant: $0) } ?? name,
          hasVariants: variant != nil, requestDigest: row.optionalInteger(3))
      }
      guard let last = page.last else { return }
      after = last.position
      for entry in page {
        if isCancelled() { throw CancellationError() }
        try body(entry)
      }
    }
  }

  /// Gives an entry its name, or the first free one with a number.
  private func takeFreeName(for entry: Named, _ isCancelled: () -> Bool) throws -> String {
    if entry.hasVariants {
      return try settleVariants(of: entry.name, first: entry.position, isCancelled: isCancelled)
    }
    let name = try freeName(entry.name, for: entry.position, isCancelled)
    if name != entry.name { try rename(entry.position, to: name) }
    return name
  }

  private func freeName(_ name: String, for position: Int, _ isCancelled: () -> Bool) throws -> String {
    let taken = OutputName.claim(name)
    if try claim(taken, for: position) == nil { return name }
    var suffix =
      try database.first(
        "SELECT suffix FROM claims WHERE claim = ?", [.text(taken)], row: { $0.integer(0) }) ?? 2
    while try claim(OutputName.claim("\(name)-\(suffix)"), for: position) != nil {
      if isCancelled() { throw CancellationError() }
      suffix += 1
    }
    try database.run("UPDATE claims SET suffix = ? WHERE claim = ?", [.integer(suffix + 1), .text(taken)])
    return "\(name)-\(suffix)"
  }

  private func rename(_ position: Int, to name: String) throws {
    try database.run("UPDATE entries SET name = ? WHERE position = ?", [.text(name), .integer(position)])
  }

  // MARK: Names of the last run

  /// Creates the tables for the names of the job's last run.
  package func prepareLastNames() throws {
    hasLastNames = true
    try database.execute(
      """
      CREATE TABLE last_names (number INTEGER PRIMARY KEY, request INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
      CREATE TABLE unnamed (position INTEGER PRIMARY KEY) STRICT;
      """)
  }

  /// Inserts names of the last run, in the order of its manifest.
  /// - Parameter page: A page from `eachNamesPage`.
  package func insert(lastNames page: String) throws {
    try database.run(
      """
      INSERT INTO last_names (request, name)
        SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)
      """, [.text(page)])
  }

  /// Gives each request the name that it had in the last run, unless that is taken. Equal requests get their names in
  /// order. Entries that get no name are inserted into the table `unnamed`.
  /// - Parameter limit: The most taken names that are returned.
  /// - Returns: The taken names, by the positions of the entries.
  private func settleLastNames(limit: Int, _ isCancelled: () -> Bool) throws -> [Int: String] {
    var lost: [Int: String] = [:]
    // Creating the index after the table is filled takes less time.
    try database.execute("CREATE INDEX last_names_by_request ON last_names (request)")
    var names = LastNames(database)
    try eachNamed("WHERE explicit = 0", isCancelled) { entry in
      if let request = entry.requestDigest, let name = try names.take(request) {
        if try take(name, for: entry) { return }
        if lost.count < limit { lost[entry.position] = name }
      }
      try database.run("INSERT INTO unnamed VALUES (?)", [.integer(entry.position)])
    }
    return lost
  }

  /// Gives an entry a name if it is free.
  /// - Returns: Whether it was free.
  private func take(_ name: String, for entry: Named) throws -> Bool {
    if entry.hasVariants { return try takeVariantNames(name, insteadOf: entry.name, first: entry.position) }
    guard try claim(OutputName.claim(name), for: entry.position) == nil else { return false }
    if name != entry.name { try rename(entry.position, to: name) }
    return true
  }

  // MARK: Names for the next run

  package static let namesInPage = 1000

  /// Calls `body` with the derived names, page by page, in the manifest's order. A page is JSON: pairs of a request's
  /// digest and a name.
  package func eachNamesPage(_ body: (String) throws -> Void) throws {
    var after: Int? = -1
    while let position = after {
      var page = ""
      after = nil
      try database.run(
        """
        SELECT max(position), json_group_array(json_array(request_digest, coalesce(original, name))) FROM (
          SELECT position, request_digest, original, name FROM entries
          WHERE explicit = 0 AND position > ? AND request_digest IS NOT NULL ORDER BY position LIMIT \(Self.namesInPage))
        """, [.integer(position)]
      ) { (after, page) = ($0.optionalInteger(0), $0.text(1) ?? "") }
      if after != nil { try body(page) }
    }
  }
}
