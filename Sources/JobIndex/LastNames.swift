import Database

/// The names that requests had in the job's last run, in the order of its manifest. Equal requests get them in that order.
///
/// Most manifests are processed again as they were: then the names are read one after another, and nothing is searched or
/// deleted.
struct LastNames {
  private struct Row {
    let number: Int
    let request: Int
    let name: String
  }

  private let database: Database

  /// The next rows, of which none was taken.
  private var page: ArraySlice<Row> = []

  /// The number of the last row that was read.
  private var last = 0

  /// Rows that were taken in order and are not deleted yet.
  private var taken: ClosedRange<Int>?

  /// The requests of rows that were passed over. They may still be there.
  private var skipped: Set<Int> = []

  private static let rowsInPage = 1000

  /// With more requests that were passed over the order is another one, and all names are searched.
  private static let skippedLimit = 10_000

  /// - Parameter database: With the table `last_names` and an index of its requests.
  init(_ database: Database) { self.database = database }

  /// Takes the first name that a request had.
  /// - Returns: nil when no name of it is left.
  mutating func take(_ request: Int) throws -> String? {
    guard skipped.count <= Self.skippedLimit else { return try find(request) }
    if page.isEmpty { try readPage() }
    // It may have been passed over before.
    if let next = page.first, next.request == request, !skipped.contains(request) {
      page.removeFirst()
      taken = (taken?.lowerBound ?? next.number)...next.number
      return next.name
    }
    return try find(request)
  }

  private mutating func readPage() throws {
    page = try database.all(
      "SELECT number, request, name FROM last_names WHERE number > ? ORDER BY number LIMIT \(Self.rowsInPage)",
      [.integer(last)]
    ) { Row(number: $0.integer(0), request: $0.integer(1), name: $0.text(2) ?? "") }[...]
    last = page.last?.number ?? last
  }

  private mutating func find(_ request: Int) throws -> String? {
    if let taken {
      try database.run(
        "DELETE FROM last_names WHERE number BETWEEN ? AND ?",
        [.integer(taken.lowerBound), .integer(taken.upperBound)])
    }
    taken = nil
    var found: (number: Int, name: String)?
    try database.run(
      """
      DELETE FROM last_names WHERE number = (SELECT min(number) FROM last_names WHERE request = ?)
      RETURNING number, name
      """, [.integer(request)]
    ) { found = ($0.integer(0), $0.text(1) ?? "") }
    // The order probably goes on behind it.
    if let found, let index = page.firstIndex(where: { $0.number == found.number }) {
      skipped.formUnion(page[..<index].map(\.request))
      page = page[(index + 1)...]
    }
    return found?.name
  }
}
