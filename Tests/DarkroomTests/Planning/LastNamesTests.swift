import Database
import TestSupport
import Testing

@testable import JobIndex

/// The names of the last run, beside an array that is searched from its beginning.
@Suite struct LastNamesTests {
  private let database: Database

  init() throws {
    database = try Database(path: Database.inMemory, durability: .none)
    try database.execute(
      """
      CREATE TABLE last_names (number INTEGER PRIMARY KEY, request INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
      CREATE INDEX last_names_by_request ON last_names (request)
      """)
  }

  enum Order: CaseIterable { case same, shortened, inserted, reversed, shuffled, blocks, repeated }

  private static func requests(_ last: [Int], _ order: Order, using random: inout SplitMix64) -> [Int] {
    switch order {
    case .same: last
    case .shortened: last.filter { _ in Int.random(in: 0..<10, using: &random) > 0 }
    case .inserted: last.flatMap { Int.random(in: 0..<10, using: &random) > 0 ? [$0] : [-$0 - 1, $0] }
    case .reversed: last.reversed()
    case .shuffled: last.shuffled(using: &random)
    case .blocks: Array(last.suffix(last.count / 3) + last.prefix(last.count * 2 / 3))
    case .repeated: last.flatMap { [$0, $0] }
    }
  }

  @Test(
    "each request takes the first of its names that is left, in whatever order they come", arguments: Order.allCases)
  func order(_ order: Order) throws {
    var random = SplitMix64(seed: 1)
    for count in [0, 1, 7, 2500] {
      // Many requests occur more than once.
      let last = (0..<count).map { _ in Int.random(in: 0..<max(1, count), using: &random) }
      try database.execute("DELETE FROM last_names")
      for (number, request) in last.enumerated() {
        try database.run(
          "INSERT INTO last_names VALUES (?, ?, ?)", [.integer(number + 1), .integer(request), .text("\(number)")])
      }
      var left: [Int: [String]] = [:]
      for (number, request) in last.enumerated().reversed() { left[request, default: []].append("\(number)") }
      var names = LastNames(database)
      for request in Self.requests(last, order, using: &random) {
        let name = try names.take(request)
        #expect(name == left[request]?.popLast(), "\(count) \(request)")
      }
    }
  }
}
