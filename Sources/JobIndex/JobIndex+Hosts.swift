import Database
import Scheduling
import Transfer

/// The entries that are not done, by host. After `prepareHosts` nothing is written, so that the disk may be full.
extension JobIndex {
  /// Orders the entries by host. Must be called once, when names are final and ended entries are marked.
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

  /// The order of entries by host, and the first entry of each host.
  static let hostTables = """
    CREATE INDEX work ON entries (host, priority, position) WHERE state = \(State.pending);
    CREATE TABLE firsts (
      priority INTEGER, position INTEGER, host INTEGER, PRIMARY KEY (priority, position)
    ) WITHOUT ROWID;
    """

  /// The hosts with entries that are not done, each with its first entry, in the order of these entries.
  package func hosts(after last: EntryKey?, limit: Int) throws -> [(host: Int, key: EntryKey)] {
    try database.all(
      """
      SELECT host, priority, position FROM firsts WHERE (priority, position) > (?, ?)
      ORDER BY priority, position LIMIT ?
      """, [.integer(last?.priority ?? -1), .integer(last?.position ?? -1), .integer(limit)]
    ) { ($0.integer(0), EntryKey(priority: $0.integer(1), position: $0.integer(2))) }
  }

  /// The entry of a host that follows another, by priority, then by position.
  package func next(ofHost host: Int, after key: EntryKey) throws -> EntryKey? {
    // A comparison of pairs would not use the whole index, because `position` is the row's number.
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

  /// The host of a deferred entry, and its key in the order of that host; nil when there is no such entry.
  package func hostAndKey(of position: Int) throws -> (host: Int, key: EntryKey)? {
    try database.first("SELECT host, priority FROM entries WHERE position = ?", [.integer(position)]) {
      ($0.integer(0), EntryKey(priority: $0.integer(1), position: position, wasDeferred: true))
    }
  }

  /// The number of the host of a URL in the index.
  package func hostNumber(known url: String) throws -> Int {
    guard let name = SourceLocation.origin(of: url) else { return HostScheduler.files }
    return try database.first("SELECT id FROM hosts WHERE name = ?", [.text(name)]) { $0.integer(0) }
      ?? HostScheduler.files
  }

  package func hostName(_ host: Int) throws -> String? {
    try database.first("SELECT name FROM hosts WHERE id = ?", [.integer(host)]) { $0.text(0) ?? "" }
  }
}
