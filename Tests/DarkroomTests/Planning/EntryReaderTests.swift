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
}
