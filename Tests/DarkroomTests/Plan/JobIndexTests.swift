import TestSupport
import Testing

@testable import Darkroom

@Suite struct JobIndexTests {
  private let folder: TemporaryFolder
  private let index: JobIndex

  init() throws {
    folder = try TemporaryFolder()
    index = try JobIndex(creating: folder.file("index.sqlite"))
  }

  private func insert(_ turns: [Int]) throws {
    try index.fill {
      for (position, turn) in turns.enumerated() {
        try index.insert(
          JobIndexRow(
            position: position, turn: turn, name: "n\(position)", original: nil, isExplicit: false, url: "http://h/",
            recipe: "none", format: "keep", quality: 85, metadata: nil))
      }
      try index.settleDerivedNames()
    }
  }

  private func everything(limit: Int) throws -> [JobIndexRow] {
    var rows: [JobIndexRow] = []
    while true {
      let page = try index.pending(after: rows.last, limit: limit)
      #expect(page.count <= limit)
      if page.isEmpty { return rows }
      rows += page
    }
  }

  @Test("entries come by priority, then in manifest order, whatever the size of a page", arguments: [1, 7, 256, 5000])
  func order(limit: Int) throws {
    let turns = (0..<1500).map { ($0 * 7919) % 5 }
    try insert(turns)
    let expected = turns.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }
    #expect(try everything(limit: limit).map(\.position) == expected)
    #expect(try index.count() == 1500)
  }

  @Test("what has ended is not given out again")
  func ended() throws {
    try insert(Array(repeating: 2, count: 600))
    for position in stride(from: 0, to: 600, by: 2) { try index.markEnded(position) }
    #expect(try everything(limit: 256).map(\.position) == Array(stride(from: 1, to: 600, by: 2)))
    #expect(try index.row(at: 0)?.name == "n0", "it can still be looked up")
    #expect(try index.row(at: 600) == nil)
  }

  @Test("an older index under the name is replaced")
  func replaced() throws {
    try insert([0, 1])
    let again = try JobIndex(creating: folder.file("index.sqlite"))
    #expect(try again.count() == 0)
  }

  @Test("priorities of a manifest become turns")
  func priorities() throws {
    let names = ["normal", "veryLow", "high", "veryHigh", "low"]
    let lines = names.map { #"{"url":"http://h/\#($0)","priority":"\#($0)"}"# }
    let bytes = lines.joined(separator: "\n")
    let planned = try Planned(bytes, as: "m.jsonl")
    #expect(
      planned.entries.sorted { $0.priority.turn < $1.priority.turn }.map(\.name) == [
        "veryHigh", "high", "normal", "low", "veryLow",
      ])
  }

  @Test("an entry comes back from the index as it went in")
  func roundTrip() throws {
    let planned = try Planned(
      #"{"ä/ö.jpg":{"url":"http://h/x?ü=1","filters":"sepia(50%) blur(0)","metadata":{"k":[null,"\u2028"]}}}"#
        .replacing(" blur(0)", with: ""), as: "m.json")
    let entry = try #require(planned.entries.first)
    #expect(entry.name == "ä/ö" && entry.originalName == "ä/ö.jpg" && entry.url == "http://h/x?ü=1")
    #expect(entry.recipe.description == "sepia(0.5)")
    #expect(entry.metadata?["k"] == .array([.null, .string("\u{2028}")]))
  }
}
