import Database
import Scheduling

/// The dependencies between entries (the field `after`). The tables exist only if there are any, and are not written
/// once the job is planned.
extension JobIndex {
  private static let dependencyTables = """
    CREATE TABLE dependency_names (
      position INTEGER NOT NULL,
      claim TEXT NOT NULL,          -- of the name
      name TEXT NOT NULL,           -- as it was written
      is_known INTEGER NOT NULL DEFAULT 0,   -- 1: an entry has it; 2: it is that of a variant's result
      PRIMARY KEY (position, claim)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE dependencies (
      position INTEGER NOT NULL,
      dependency INTEGER NOT NULL,  -- the position of an entry that has not succeeded yet
      PRIMARY KEY (position, dependency)
    ) STRICT, WITHOUT ROWID;
    """

  // MARK: Planning

  /// Adds the names in the field `after` of an entry. Duplicates are ignored.
  package func insert(after names: [String], of position: Int) throws {
    if !hasDependencies {
      try database.execute(Self.dependencyTables)
      hasDependencies = true
    }
    for name in names {
      try database.run(
        "INSERT OR IGNORE INTO dependency_names (position, claim, name) VALUES (?, ?, ?)",
        [.integer(position), .text(OutputName.explicit(name).claim), .text(name)])
    }
  }

  /// Finds the entries with these names. Must be called when all names are claimed.
  func resolveDependencies() throws {
    try database.run(
      """
      INSERT OR IGNORE INTO dependencies
        SELECT names.position, claims.position FROM dependency_names AS names JOIN claims USING (claim)
      """)
    try database.run("UPDATE dependency_names SET is_known = 1 WHERE claim IN (SELECT claim FROM claims)")
    if hasVariants { try resolveVariants() }
    try database.execute("CREATE INDEX dependents ON dependencies (dependency, position)")
  }

  /// The names that no entry has, each with the first entry that names it. Some are names of variants' results.
  package func unknownDependencies(limit: Int) throws -> [(position: Int, name: String, isOfVariant: Bool)] {
    try database.all(
      "SELECT position, name, is_known FROM dependency_names WHERE is_known <> 1 ORDER BY position, name LIMIT ?",
      [.integer(limit)]
    ) { ($0.integer(0), $0.text(1) ?? "", $0.integer(2) == 2) }
  }

  /// The cycles of entries, each of which must wait for the next.
  package func dependencyCycles(limit: Int) throws -> [[Int]] {
    // A cycle contains an entry that waits for a later one or for itself. Few manifests have such an entry.
    let range = try database.first(
      "SELECT min(position), max(dependency), count(*) FROM dependencies WHERE dependency >= position"
    ) { $0.integer(2) > 0 ? [$0.integer(0), $0.integer(1)] : [] }
    guard let range, !range.isEmpty else { return [] }
    var cycles = DependencyCycles()
    try database.run(
      """
      SELECT position, dependency FROM dependencies
      WHERE position BETWEEN ?1 AND ?2 AND dependency BETWEEN ?1 AND ?2 ORDER BY position
      """, range.map { .integer($0) }
    ) { cycles.add($0.integer(0), after: $0.integer(1)) }
    return cycles.find(limit: limit)
  }

  /// Records that an entry has succeeded in an earlier process.
  package func dependencySucceeded(_ position: Int) throws {
    try database.run("DELETE FROM dependencies WHERE dependency = ?", [.integer(position)])
  }

  /// The dependencies that ended without success in an earlier process.
  private func unsuccessfulDependencies() throws -> [Int] {
    try database.all(
      """
      SELECT DISTINCT dependency FROM dependencies
      WHERE (SELECT state FROM entries WHERE entries.position = dependency) = \(State.ended)
      """
    ) { $0.integer(0) }
  }

  /// Removes the entries whose dependencies have not all succeeded from the order of their hosts. Must be called before
  /// `prepareHosts` and after `holdVariants`.
  /// - Parameter isResumed: Whether entries may have ended in an earlier process.
  /// - Returns: nil when no entry waits.
  package func holdDependents(isResumed: Bool) throws -> DependencyTracker? {
    guard hasDependencies else { return nil }
    try database.run(
      """
      UPDATE entries SET state = \(State.held)
      WHERE state = \(State.pending) AND position IN (SELECT position FROM dependencies)
      """)
    let waiting = database.changes
    guard waiting > 0 else { return nil }
    return DependencyTracker(waiting: waiting, unsuccessful: isResumed ? try unsuccessfulDependencies() : [])
  }

  // MARK: Waiting entries

  /// The entries that depended on an entry and waited when the job was planned, in the manifest's order.
  /// - Parameter last: The position after which they begin.
  package func dependents(of dependency: Int, after last: Int, limit: Int) throws -> [DependencyTracker.Dependent] {
    try database.all(
      """
      SELECT host, priority, position FROM dependencies JOIN entries USING (position)
      WHERE dependency = ? AND dependencies.position > ? AND state = \(State.held)
      ORDER BY dependencies.position LIMIT ?
      """, [.integer(dependency), .integer(last), .integer(limit)]
    ) { ($0.integer(0), EntryKey(priority: $0.integer(1), position: $0.integer(2))) }
  }

  /// The number of an entry's dependencies that had not succeeded when the job was planned.
  package func dependencyCount(of position: Int) throws -> Int {
    try database.first("SELECT count(*) FROM dependencies WHERE position = ?", [.integer(position)]) { $0.integer(0) }
      ?? 0
  }

  /// The dependencies of an entry that had not succeeded when the job was planned, with the names shown to users, in
  /// the manifest's order.
  package func dependencies(of position: Int) throws -> [(position: Int, name: String)] {
    guard hasDependencies else { return [] }
    return try database.all(
      """
      SELECT dependency, coalesce(original, name) FROM dependencies JOIN entries ON entries.position = dependency
      WHERE dependencies.position = ? ORDER BY dependency
      """, [.integer(position)]
    ) { ($0.integer(0), $0.text(1) ?? "") }
  }

  /// The names of the included dependencies of an entry, without duplicates: variants of an entry share their name.
  package func dependencyNames(of position: Int, where isIncluded: (Int) -> Bool = { _ in true }) throws -> [String] {
    var names: [String] = []
    for dependency in try dependencies(of: position) where isIncluded(dependency.position) {
      if names.last != dependency.name { names.append(dependency.name) }
    }
    return names
  }

  /// The name of an entry as shown to users; nil when there is no such entry.
  package func shownName(at position: Int) throws -> String? {
    try database.first("SELECT coalesce(original, name) FROM entries WHERE position = ?", [.integer(position)]) {
      $0.text(0) ?? ""
    }
  }
}
