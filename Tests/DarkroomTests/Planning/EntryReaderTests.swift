import Imaging
import JSON
import Testing

@testable import Model
@testable import Planning

@Suite struct EntryReaderTests {
  @Test func `of another recipe in every entry few are kept, and each entry has its own`() throws {
    var reader = EntryReader(defaults: try Planned.defaults)
    for number in 0..<2000 {
      let recipe = "brightness(\(number % 1500 + 1))"
      let entry = JSONValue.object(["url": .string("a.jpg"), "filters": .string(recipe)])
      #expect(reader.read(entry, key: nil, position: number, at: .line(number))?.recipe.description == recipe)
      #expect(reader.recipes.count <= RecipeCache.limit)
    }
    #expect(reader.problems.isEmpty)
  }

  @Test func `a problem quotes only the beginning of a long text`() throws {
    let long = String(repeating: "n", count: 100_000)
    let text = #"{"\#(long)": 7, "b": {"url": "a.jpg", "format": "\#(long)"}}"#
    let problems = try Planned(Array(text.utf8), as: "m.json").problems
    #expect(problems.count == 2)
    #expect(problems.allSatisfy { $0.description.count <= 2000 && $0.location.description.count <= 1000 })
  }

  @Test(arguments: [700, 850, 940, 990, 999])
  func `a password that a long text contains is removed before the text is shortened`(start: Int) throws {
    let secret =
      String(repeating: "a", count: start) + "https://bob:" + String(repeating: "hunter2", count: 40) + "@h/x"
    let text = #"{"\#(secret)": 7, "b": {"url": "a.jpg", "format": "\#(secret)"}}"#
    let problems = try Planned(Array(text.utf8), as: "m.json").problems
    #expect(problems.count == 2)
    #expect(problems.allSatisfy { !$0.description.contains("hunter") }, "\(problems)")
  }
}
