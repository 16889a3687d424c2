import Database
import Scheduling

/// What entries ask for.
extension JobIndex {
  /// What tells the request of an entry from those of others: its key or its first URL, and what else is asked; nil when
  /// there is no such entry.
  func requestIdentity(at position: Int) throws -> String? {
    try database.first("SELECT key, url, request FROM entries WHERE position = ?", [.integer(position)]) { row in
      "\(row.integer(2)) " + (row.text(0).map { "key " + $0 } ?? row.text(1) ?? "")
    }
  }

  /// Finds the values of `cache-key` that entries share although their first URLs differ in more than query and fragment, in
  /// the manifest's order.
  /// - Returns: Of each the first entry that has it, and how many do.
  func sharedKeys(limit: Int) throws -> [SharedKeys.Shared] {
    guard hasKeys else { return [] }
    var shared: [SharedKeys.Shared] = []
    try database.run(
      """
      SELECT key, min(position) AS first, count(*) FROM (
        SELECT key, position, substr(url, 1, instr(replace(url, '#', '?') || '?', '?') - 1) AS address FROM entries
        WHERE key IS NOT NULL AND host != ? AND (first_row IS NULL OR first_row = position))
      GROUP BY key HAVING min(address) != max(address) ORDER BY first LIMIT ?
      """, [.integer(HostScheduler.files), .integer(limit)]
    ) { shared.append(.init(key: $0.text(0) ?? "", first: $0.integer(1), count: $0.integer(2))) }
    return shared
  }
}
