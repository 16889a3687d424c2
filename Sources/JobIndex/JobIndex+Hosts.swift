import Database
import Scheduling
import Transfer

/// What is left to do, host by host. Nothing is written once it is prepared, so that a full disk does not matter.
extension JobIndex {
  /// Orders what is left by host. To be called once, when names are settled and what has ended is marked.
  package func prepareHosts() throws {
    if !isInMemory { try database.execute(Self.hostTables) }
    try database.run(
      """
      INSERT INTO firsts
        SELECT priority, position, host FROM entries JOIN (
          SELECT (
            SELECT position FROM entries WHERE host = id AND state = \(State.pending)
            ORDER BY priority, position LIMIT 1
          ) AS first
          FROM (SELECT id FROM hosts UNION ALL SELECT 0))
        ON position = first
      """)
    if !isInMemory { try database.execute("PRAGMA shrink_memory") }
  }

  /// The order of what is left by host, and the first entry of each host.
  static let hostTables = """
    CREATE INDEX work ON entries (host, priority, position) WHERE state = \(State.pending);
    CREATE TABLE firsts (
      priority INTEGER, position INTEGER, host INTEGER, PRIMARY KEY (priority, position)
    ) WITHOUT ROWID;
    """

  /// The hosts that have something left, each with its first entry, in the order of these entries.
  package func hosts(after last: EntryKey?, limit: Int) throws -> [(host: Int, key: EntryKey)] {
    try database.all(
      """
      SELECT host, priority, position FROM firsts WHERE (priority, position) > (?, ?)
      ORDER BY priority, position LIMIT ?
      """, [.integer(last?.priority ?? -1), .integer(last?.position ?? -1), .integer(limit)]
    ) { ($0.integer(0), EntryKey(priority: $0.integer(1), position: $0.integer(2))) }
  }

  /// The entry of a host that comes after another: by priority, then in the manifest.
  package func next(ofHost host: Int, after key: EntryKey) throws -> EntryKey? {
    // As one comparison of pairs it would not use the index to its end, because `position` is the row's number.
    try first(
      "priority = ? AND position > ?", ofHost: host, [.integer(key.priority), .integer(key.position)])
      ?? first("priority > ?", ofHost: host, [.integer(key.priority)])
  }

  private func first(_ condition: String, ofHost host: Int, _ values: [SQLiteValue]) throws -> EntryKey? {
    try database.first(
      """
      SELECT priority, position FROM entries WHERE host = ? AND state = \(State.pending) AND \(condition)
      ORDER BY priority, position LIMIT 1
      """, [.integer(host)] + values
    ) { EntryKey(priority: $0.integer(0), position: $0.integer(1)) }
  }

  /// Where a deferred entry belongs: its host and its place in the order of that.
  package func place(of position: Int) throws -> (host: Int, key: EntryKey)? {
    try database.first("SELECT host, priority FROM entries WHERE position = ?", [.integer(position)]) {
      ($0.integer(0), EntryKey(priority: $0.integer(1), position: position, wasDeferred: true))
    }
  }

  /// The number that the index gives to the host of a URL.
  package func hostNumber(known url: String) throws -> Int {
    guard let name = SourceLocation.hostName(of: url) else { return HostScheduler.files }
    return try database.first("SELECT id FROM hosts WHERE name = ?", [.text(name)]) { $0.integer(0) }
      ?? HostScheduler.files
  }

  package func hostName(_ host: Int) throws -> String? {
    try database.first("SELECT name FROM hosts WHERE id = ?", [.integer(host)]) { $0.text(0) ?? "" }
  }
}
