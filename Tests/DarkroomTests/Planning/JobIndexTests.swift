import Testing
import TestSupport

@testable import JobIndex
@testable import Model

@Suite struct JobIndexTests {
  private let folder: TemporaryFolder
  private let index: JobIndex

  init() throws {
    folder = try TemporaryFolder()
    index = try JobIndex(creating: .file(folder.file("index.sqlite")))
  }

  private func insert(_ count: Int) throws {
    try index.fill {
      for position in 0..<count { try index.insert(.sample(position)) }
      _ = try index.settleNames()
    }
  }

  @Test("an entry can be looked up whatever has become of it")
  func lookup() throws {
    try insert(2)
    try index.markEnded(0)
    #expect(try index.entry(at: 0)?.name == "entry 0")
    #expect(try index.entry(at: 2) == nil)
    #expect(try index.count() == 2)
  }

  @Test("an older index under the name is replaced")
  func replaced() throws {
    try insert(2)
    let again = try JobIndex(creating: .file(folder.file("index.sqlite")))
    #expect(try again.count() == 0)
  }

  @Test("priorities of a manifest become ranks")
  func priorities() throws {
    let names = ["normal", "veryLow", "high", "veryHigh", "low"]
    let lines = names.map { #"{"url":"http://h/\#($0)","priority":"\#($0)"}"# }
    let bytes = lines.joined(separator: "\n")
    let planned = try Planned(bytes, as: "m.jsonl")
    #expect(
      planned.entries.sorted { $0.priority.rank < $1.priority.rank }.map(\.name) == [
        "veryHigh", "high", "normal", "low", "veryLow",
      ])
  }

  @Test("an entry comes back from the index as it went in")
  func roundTrip() throws {
    let planned = try Planned(
      #"{"ä/ö.jpg":{"url":"http://h/x?ü=1","filters":"sepia(50%) blur(0)","metadata":{"k":[null,"\u2028"]}}}"#
        .replacing(" blur(0)", with: ""), as: "m.json")
    let entry = try #require(planned.entries.first)
    #expect(entry.name == "ä/ö" && entry.originalName == "ä/ö.jpg" && entry.urls == ["http://h/x?ü=1"])
    #expect(entry.recipe.description == "sepia(0.5)")
    #expect(entry.metadata?["k"] == .array([.null, .string("\u{2028}")]))
  }
}
