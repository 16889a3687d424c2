import Database
import Imaging
import Model
import Scheduling
import System
import Transfer

/// The entries of an accepted manifest in SQLite, so that memory does not grow with the manifest. It is filled once,
/// then read in the scheduler's order.
///
/// It is created again from the manifest's snapshot when the program restarts, so it is never synced. It has one owner
/// at a time.
package final class JobIndex {
  /// Where an index is stored.
  package enum Storage {
    /// In memory, for a small manifest, whose index takes about ten times the manifest's size. The index can be reused.
    case memory
    /// In a file. An existing one is replaced.
    case file(String)
  }

  /// The state of an entry when the job was planned. Later states are in `JobEntries` and in the ledger.
  package enum State: Int, CustomStringConvertible {
    /// It ended in an earlier process.
    case ended = 0
    /// It starts in the order of its host.
    case pending = 1
    /// It waits for other entries, or was deferred by an earlier process.
    case held = 2
    /// It waits for the download of another variant of its entry.
    case heldVariant = 3
    /// It starts last.
    case suspect = 4

    /// The value in SQL.
    package var description: String { "\(rawValue)" }
  }

  let database: Database
  let isInMemory: Bool

  /// Whether there are dependencies between entries, and tables for them.
  package var hasDependencies = false

  private(set) var hasVariants = false

  package private(set) var hasDerivedNames = false

  /// Whether some entries have a `cache-key`.
  private(set) var hasKeys = false

  /// Whether it has the names of the job's last run.
  var hasLastNames = false

  /// The request that was inserted last, with its number.
  private var lastRequest: (text: String, number: Int)?

  /// A cache of the numbers of hosts.
  private var hostNumbers: [String: Int] = [:]

  /// The recipe that was parsed last, with its text. Most entries of a manifest have the same.
  private var lastRecipe: (text: String, recipe: Recipe)?

  /// Creates an empty index.
  /// - Throws: `SQLiteError`, `SystemError`.
  package init(creating storage: Storage) throws {
    switch storage {
    case .memory:
      isInMemory = true
      database = try Database(path: Database.inMemory, durability: .none)
    case .file(let path):
      isInMemory = false
      try Folder.removeFile(path)
      database = try Database(path: path, durability: .none)
    }
    try database.execute(
      """
      CREATE TABLE entries (
        position INTEGER PRIMARY KEY,
        priority INTEGER NOT NULL,    -- 0 for the highest
        name TEXT NOT NULL,           -- for a derived name: as derived, until names are settled
        original TEXT,
        explicit INTEGER NOT NULL,    -- 0: derived; 1: as given; 2: given, and partly replaced
        host INTEGER NOT NULL,        -- 0 when the URL names none
        state INTEGER NOT NULL DEFAULT \(State.pending),
        url TEXT NOT NULL,
        recipe TEXT NOT NULL,
        format TEXT NOT NULL,
        quality INTEGER NOT NULL,
        metadata TEXT,
        checksum TEXT,
        key TEXT,
        line INTEGER,                 -- null when it is the position
        variant TEXT,
        first_row INTEGER,            -- of the entry's variants
        request_digest INTEGER,       -- for a derived name; for variants only in the first row
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
    // For a large index, creating it after the table is filled takes less time.
    if isInMemory { try database.execute(Self.hostTables) }
  }

  /// Removes all entries, so that an index in memory can be used for another manifest.
  func clear() throws {
    for table in ["entries", "requests", "hosts", "claims", "firsts"] { try database.run("DELETE FROM " + table) }
    try database.execute("DROP INDEX IF EXISTS names; DROP INDEX IF EXISTS lines")
    // The transaction that created these tables may have been rolled back.
    for table in ["dependency_names", "dependencies", "last_names", "unnamed", "kept", "outputs", "failures"] {
      try database.execute("DROP TABLE IF EXISTS " + table)
    }
    (hasDependencies, hasVariants, hasDerivedNames, hasKeys, hasLastNames) = (false, false, false, false, false)
    lastRequest = nil
    hostNumbers.removeAll(keepingCapacity: true)
  }

  /// Fills the index in one transaction.
  package func fill<T>(_ body: () throws -> T) throws -> T { try database.transaction(body) }

  package func count() throws -> Int { try database.first("SELECT count(*) FROM entries") { $0.integer(0) } ?? 0 }

  package func insert(_ entry: Entry) throws {
    let request = try entry.requestText.map(requestNumber)
    try database.run(
      Self.insertion, [.integer(hostNumber(of: entry.urls[0])), .optional(request)] + entry.values)
    if entry.variant != nil { hasVariants = true }
    if !entry.isNameExplicit { hasDerivedNames = true }
    if entry.key != nil { hasKeys = true }
    // The hosts of mirrors are inserted now, since nothing may be written when they are needed.
    for url in entry.urls.dropFirst() { _ = try hostNumber(of: url) }
  }

  private static let insertion = """
    INSERT INTO entries (host, request, \(Entry.columns.names)) VALUES (?, ?, \(Entry.columns.placeholders))
    """

  /// The number of a request. Equal requests, such as those of the manifest's defaults, are stored once.
  private func requestNumber(of text: String) throws -> Int {
    if let last = lastRequest, last.text.utf8.elementsEqual(text.utf8) { return last.number }
    let digest = MessageDigest.hexDigest(of: text)
    try database.run("INSERT OR IGNORE INTO requests (digest, text) VALUES (?, ?)", [.text(digest), .text(text)])
    let number = try database.first("SELECT id FROM requests WHERE digest = ?", [.text(digest)]) { $0.integer(0) } ?? 0
    lastRequest = (text, number)
    return number
  }

  private func hostNumber(of url: String) throws -> Int {
    guard let host = SourceLocation.origin(of: url) else { return HostScheduler.files }
    if let number = hostNumbers[host] { return number }
    try database.run("INSERT OR IGNORE INTO hosts (name) VALUES (?)", [.text(host)])
    let number = try database.first("SELECT id FROM hosts WHERE name = ?", [.text(host)]) { $0.integer(0) } ?? 0
    if hostNumbers.count >= 1000 { hostNumbers.removeAll(keepingCapacity: true) }
    hostNumbers[host] = number
    return number
  }

  /// Claims an output.
  /// - Returns: The position of the entry that has claimed it before; nil when it was free.
  package func claim(_ claim: String, for position: Int) throws -> Int? {
    try database.run(
      "INSERT OR IGNORE INTO claims (claim, position) VALUES (?, ?)", [.text(claim), .integer(position)])
    if database.changes == 1 { return nil }
    return try database.first(
      "SELECT position FROM claims WHERE claim = ?", [.text(claim)], row: { $0.integer(0) })
  }

  /// Records that an entry has ended.
  package func markEnded(_ position: Int) throws {
    try database.run("UPDATE entries SET state = \(State.ended) WHERE position = ?", [.integer(position)])
  }

  /// Removes a pending entry from the order of its host. Suspects are removed before `holdVariants`, since no variant
  /// waits for them; deferred entries after it, since variants do.
  /// - Returns: Whether the entry was pending.
  package func take(_ position: Int, as state: State) throws -> Bool {
    try database.run(
      "UPDATE entries SET state = ? WHERE position = ? AND state = \(State.pending)",
      [.integer(state.rawValue), .integer(position)])
    return database.changes == 1
  }

  /// Calls `body` with every entry, in the manifest's order.
  package func eachInOrder(_ body: (Entry) throws -> Void) throws {
    try eachPage("true") { for entry in $0 { try body(entry) } }
  }

  /// Calls `body` with the entries that have not ended, in the manifest's order, a page at a time.
  package func eachUnendedPage(_ body: ([Entry]) throws -> Void) throws {
    try eachPage("state != \(State.ended)", body)
  }

  private func eachPage(_ condition: String, _ body: ([Entry]) throws -> Void) throws {
    let clause = "WHERE \(condition) AND position > ? ORDER BY position LIMIT 1000"
    var page = try entries(clause, [.integer(-1)])
    while let last = page.last {
      try body(page)
      page = try entries(clause, [.integer(last.position)])
    }
  }

  /// The entry at a position of the manifest.
  package func entry(at position: Int) throws -> Entry? {
    try entries("WHERE position = ?", [.integer(position)]).first
  }

  private func entries(_ clause: String, _ values: [SQLiteValue]) throws -> [Entry] {
    try database.all(Self.selection + clause, values) { row in
      var entry = try Entry(row, recipe: recipe)
      if let request = row.text(Self.requestColumn) { try entry.adopt(requestText: request) }
      return entry
    }
  }

  private func recipe(_ text: String) throws -> Recipe {
    if let lastRecipe, lastRecipe.text == text { return lastRecipe.recipe }
    let recipe = try Recipe(parsing: text)
    lastRecipe = (text, recipe)
    return recipe
  }

  private static let selection = """
    SELECT \(Entry.columns.names), (SELECT text FROM requests WHERE id = request) FROM entries\u{20}
    """
  private static let requestColumn = Int32(Entry.columns.count)
}
