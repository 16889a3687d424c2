import Ledger
import Transfer

/// The entries of an accepted manifest, on disk, so that memory does not grow with the manifest: filled once, then worked
/// on in the order that `JobWork` finds.
///
/// It is made again from the manifest's snapshot when the program starts anew, so nothing of it is synced.
final class JobIndex {
  let database: Database

  /// The request that was met last, with its number.
  private var lastRequest: (text: String, number: Int)?

  /// The numbers of hosts that were met lately.
  private var hostNumbers: [String: Int] = [:]

  /// Creates the index; an older file of the name is replaced.
  /// - Throws: `SQLiteError`, `SystemError`.
  init(creating path: String) throws {
    try Folder.removeFile(path)
    database = try Database(path: path, durability: .none)
    try database.execute(
      """
      CREATE TABLE entries (
        position INTEGER PRIMARY KEY,
        turn INTEGER NOT NULL,        -- 0 for the highest priority
        name TEXT NOT NULL,           -- for a derived name: as derived, until it is settled
        original TEXT,
        explicit INTEGER NOT NULL,
        host INTEGER NOT NULL,        -- 0 when it names none
        pending INTEGER NOT NULL DEFAULT 1,   -- 0: it ended before the program was started
        url TEXT NOT NULL,
        recipe TEXT NOT NULL,
        format TEXT NOT NULL,
        quality INTEGER NOT NULL,
        metadata TEXT,
        checksum TEXT,
        request INTEGER               -- null for a plain GET of one URL
      ) STRICT;
      CREATE TABLE requests (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, text TEXT NOT NULL) STRICT;
      CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE claims (
        claim TEXT PRIMARY KEY,
        position INTEGER NOT NULL,
        suffix INTEGER NOT NULL DEFAULT 2   -- the next to try for another entry of this claim
      ) STRICT, WITHOUT ROWID;
      """)
  }

  /// Runs everything that fills the index as one transaction.
  func fill<T>(_ body: () throws -> T) throws -> T { try database.transaction(body) }

  /// How many entries there are.
  func count() throws -> Int { try database.first("SELECT count(*) FROM entries") { $0.integer(0) } ?? 0 }

  func insert(_ row: JobIndexRow) throws {
    try database.run(
      """
      INSERT INTO entries (position, turn, name, original, explicit, host, url, recipe, format, quality, metadata,
        checksum, request)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(row.position), .integer(row.turn), .text(row.name), .optional(row.original),
        .integer(row.isExplicit ? 1 : 0), .integer(try hostNumber(of: row.url)), .text(row.url), .text(row.recipe),
        .text(row.format),
        .integer(row.quality), .optional(row.metadata), .optional(row.checksum),
        .optional(try row.request.map(requestNumber)),
      ])
    // They are found when they are needed, and nothing is written then.
    if row.request != nil { for url in try row.sources.urls.dropFirst() { _ = try hostNumber(of: url) } }
  }

  /// Equal requests, such as those of the manifest's defaults, are kept once.
  private func requestNumber(of text: String) throws -> Int {
    if let last = lastRequest, last.text == text { return last.number }
    let digest = MessageDigest.hexDigest(of: text)
    try database.run("INSERT OR IGNORE INTO requests (digest, text) VALUES (?, ?)", [.text(digest), .text(text)])
    let number = try database.first("SELECT id FROM requests WHERE digest = ?", [.text(digest)]) { $0.integer(0) } ?? 0
    lastRequest = (text, number)
    return number
  }

  private func hostNumber(of url: String) throws -> Int {
    guard let host = SourceLocation.hostName(of: url) else { return HostTurns.files }
    if let number = hostNumbers[host] { return number }
    try database.run("INSERT OR IGNORE INTO hosts (name) VALUES (?)", [.text(host)])
    let number = try database.first("SELECT id FROM hosts WHERE name = ?", [.text(host)]) { $0.integer(0) } ?? 0
    if hostNumbers.count >= 1000 { hostNumbers.removeAll(keepingCapacity: true) }
    hostNumbers[host] = number
    return number
  }

  /// Claims an output.
  /// - Returns: The position of the entry that has it already; nil when it was free.
  func claim(_ claim: String, for position: Int) throws -> Int? {
    try database.run(
      "INSERT OR IGNORE INTO claims (claim, position) VALUES (?, ?)", [.text(claim), .integer(position)])
    if database.changes == 1 { return nil }
    return try database.first(
      "SELECT position FROM claims WHERE claim = ?", [.text(claim)], row: { $0.integer(0) })
  }

  /// Gives every entry without an explicit name its final one, in order: the first keeps it, later ones get `-2`, `-3`….
  func settleDerivedNames() throws {
    var after = -1
    while true {
      let page = try derivedNames(after: after)
      guard let last = page.last else { break }
      after = last.position
      for entry in page {
        let name = try freeName(entry.name, for: entry.position)
        guard name != entry.name else { continue }
        try database.run(
          "UPDATE entries SET name = ? WHERE position = ?", [.text(name), .integer(entry.position)])
      }
    }
    try database.execute("DROP TABLE claims")
    // From here on the index is read from its beginning to its end: pages that were read are not needed again.
    try database.execute("PRAGMA cache_size = -256; PRAGMA shrink_memory")
  }

  private func derivedNames(after position: Int) throws -> [(position: Int, name: String)] {
    var page: [(position: Int, name: String)] = []
    try database.run(
      "SELECT position, name FROM entries WHERE explicit = 0 AND position > ? ORDER BY position LIMIT 1000",
      [.integer(position)]
    ) { page.append(($0.integer(0), $0.text(1) ?? "")) }
    return page
  }

  private func freeName(_ name: String, for position: Int) throws -> String {
    let taken = OutputName.claim(name)
    if try claim(taken, for: position) == nil { return name }
    var suffix =
      try database.first(
        "SELECT suffix FROM claims WHERE claim = ?", [.text(taken)], row: { $0.integer(0) }) ?? 2
    while try claim(OutputName.claim("\(name)-\(suffix)"), for: position) != nil { suffix += 1 }
    try database.run("UPDATE claims SET suffix = ? WHERE claim = ?", [.integer(suffix + 1), .text(taken)])
    return "\(name)-\(suffix)"
  }

  /// Takes an entry out of the work that is left.
  func markEnded(_ position: Int) throws {
    try database.run("UPDATE entries SET pending = 0 WHERE position = ?", [.integer(position)])
  }

  /// Calls `body` with every entry, in the manifest's order.
  func eachInOrder(_ body: (JobIndexRow) throws -> Void) throws {
    var page = try rows("WHERE position > ? ORDER BY position LIMIT 100", [.integer(-1)])
    while let last = page.last {
      for row in page { try body(row) }
      page = try rows("WHERE position > ? ORDER BY position LIMIT 100", [.integer(last.position)])
    }
  }

  /// The entry at a position of the manifest.
  func row(at position: Int) throws -> JobIndexRow? {
    try rows("WHERE position = ?", [.integer(position)]).first
  }

  private func rows(_ clause: String, _ values: [SQLiteValue]) throws -> [JobIndexRow] {
    var rows: [JobIndexRow] = []
    try database.run(
      """
      SELECT position, turn, name, original, explicit, url, recipe, format, quality, metadata, checksum,
        (SELECT text FROM requests WHERE id = request)
      FROM entries
      """ + " " + clause, values
    ) { row in
      rows.append(
        JobIndexRow(
          position: row.integer(0), turn: row.integer(1), name: row.text(2) ?? "", original: row.text(3),
          isExplicit: row.integer(4) == 1, url: row.text(5) ?? "", recipe: row.text(6) ?? "",
          format: row.text(7) ?? "", quality: row.integer(8), metadata: row.text(9), checksum: row.text(10),
          request: row.text(11)))
    }
    return rows
  }
}
