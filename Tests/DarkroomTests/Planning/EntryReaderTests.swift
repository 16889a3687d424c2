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

  @Test func `a problem quotes only the beginning of a long name`() throws {
    var reader = EntryReader(defaults: try Planned.defaults)
    let key = String(repeating: "n", count: 100_000)
    #expect(reader.read(.integer(7), key: key, position: 0, at: .keyPath([key])) == nil)
    let entry = JSONValue.object(["url": .string("a.jpg"), "format": .string(key)])
    #expect(reader.read(entry, key: nil, position: 1, at: .line(1)) == nil)
    #expect(reader.problems.count == 2)
    #expect(reader.problems.allSatisfy { $0.message.count <= 1001 && $0.location.description.count <= 1001 })
  }
}
