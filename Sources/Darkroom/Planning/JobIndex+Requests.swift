import Database

/// What entries ask for.
extension JobIndex {
  /// What tells the request of an entry from those of others: its key or its first URL, and what else is asked; nil when
  /// there is no such entry.
  func requestIdentity(at position: Int) throws -> String? {
    try database.first("SELECT key, url, request FROM entries WHERE position = ?", [.integer(position)]) { row in
      "\(row.integer(2)) " + (row.text(0).map { "key " + $0 } ?? row.text(1) ?? "")
    }
  }
}
