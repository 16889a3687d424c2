import Ledger
import Transfer

/// The work that is left, host by host. Nothing is written once it is prepared, so that a full disk does not matter.
extension JobIndex {
  /// Orders what is left by host. To be called once, when names are settled and what has ended is marked.
  func prepareWork() throws {
    try database.execute(
      """
      CREATE INDEX work ON entries (host, turn, position) WHERE pending = 1;
      CREATE TABLE firsts (turn INTEGER, position INTEGER, host INTEGER, PRIMARY KEY (turn, position)) WITHOUT ROWID;
      INSERT INTO firsts
        SELECT turn, position, host FROM entries JOIN (
          SELECT (SELECT position FROM entries WHERE host = id AND pending = 1 ORDER BY turn, position LIMIT 1) AS first
          FROM (SELECT id FROM hosts UNION ALL SELECT 0))
        ON position = first;
      PRAGMA shrink_memory;
      """)
  }

  /// The hosts that have something left, each with its first entry, in the order of these entries.
  func hosts(after last: HostTurns.Key?, limit: Int) throws -> [(host: Int, key: HostTurns.Key)] {
    var hosts: [(host: Int, key: HostTurns.Key)] = []
    try database.run(
      """
      SELECT host, turn, position FROM firsts WHERE (turn, position) > (?, ?) ORDER BY turn, position LIMIT ?
      """, [.integer(last?.turn ?? -1), .integer(last?.position ?? -1), .integer(limit)]
    ) { hosts.append(($0.integer(0), .init(turn: $0.integer(1), position: $0.integer(2)))) }
    return hosts
  }

  /// The entry of a host that comes after another: by priority, then in the manifest.
  func next(ofHost host: Int, after key: HostTurns.Key) throws -> HostTurns.Key? {
    // As one comparison of pairs it would not use the index to its end, because `position` is the row's number.
    try first(
      "turn = ? AND position > ?", ofHost: host, [.integer(key.turn), .integer(key.position)])
      ?? first("turn > ?", ofHost: host, [.integer(key.turn)])
  }

  private func first(_ condition: String, ofHost host: Int, _ values: [SQLiteValue]) throws -> HostTurns.Key? {
    try database.first(
      """
      SELECT turn, position FROM entries WHERE host = ? AND pending = 1 AND \(condition)
      ORDER BY turn, position LIMIT 1
      """, [.integer(host)] + values
    ) { .init(turn: $0.integer(0), position: $0.integer(1)) }
  }

  /// The number of the host that a URL of an entry names.
  func knownHost(of url: String) throws -> Int {
    guard let name = SourceLocation.hostName(of: url) else { return HostTurns.files }
    return try database.first("SELECT id FROM hosts WHERE name = ?", [.text(name)]) { $0.integer(0) }
      ?? HostTurns.files
  }

  /// The name of a host.
  func hostName(_ host: Int) throws -> String? {
    try database.first("SELECT name FROM hosts WHERE id = ?", [.integer(host)]) { $0.text(0) ?? "" }
  }
}
