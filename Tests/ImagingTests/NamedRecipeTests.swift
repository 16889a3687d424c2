import Testing

@testable import Imaging

/// Recipes that others use by their names.
@Suite struct NamedRecipeTests {
  private typealias Text = (name: String, text: String)

  @Test func `a name stands for its filters, whatever the order and the case of letters`() throws {
    let named = try NamedRecipes(parsing: [
      ("card", "Thumb pad(300 300 white)"), ("thumb", "resize(256 256) sharpen(0.5)"), ("Plain", "none"),
      ("_x-1", "card sepia()"),
    ])
    #expect(named.all.map(\.name) == ["_x-1", "card", "plain", "thumb"])
    let thumb = "resize(fit 256 256) sharpen(0.5)"
    #expect(try Recipe(parsing: "THUMB", named: named).description == thumb)
    #expect(
      try Recipe(parsing: "flop() card flip()", named: named).description
        == "flop() \(thumb) pad(300 300 center #ffffff) flip()")
    #expect(try Recipe(parsing: "_x-1", named: named).description == "\(thumb) pad(300 300 center #ffffff) sepia(1)")
    #expect(try Recipe(parsing: "plain", named: named) == .none)
    let text = try #require(named.text)
    #expect(try NamedRecipes(text: text) == named && NamedRecipes().text == nil)
    #expect(try Recipe(parsing: "plain thumb", named: named).description == thumb)
  }

  private static let wrong: [(texts: [Text], name: String, message: String)] = [
    ([("a", "b"), ("b", "c sepia()"), ("c", "A")], "a", "uses itself: a uses b uses c uses a"),
    ([("a", "flip() a")], "a", "uses itself: a uses a"), ([("a", "B"), ("b", "a a")], "a", "a uses b uses a"),
    // The first is no part of the cycle.
    ([("x", "flip() a"), ("a", "b"), ("b", "a")], "x", "it uses itself: x uses a uses b uses a"),
    ([("a", "sepa(1)")], "a", "did you mean sepia()?"), ([("card", "flip()"), ("a", "crad")], "a", "mean card?"),
    ([("card", "flip()"), ("a", "card()")], "a", "card is a recipe; its name is written without parentheses: card"),
    ([("a", "b"), ("b", "sepia(")], "a", "b: sepia( is not closed"), ([("a", "b")], "a", "there is no filter b()"),
    ([("a", "")], "a", "the recipe is empty"), ([("sepia", "flip()")], "sepia", "is a filter of darkroom's own"),
    ([("CISepiaTone", "flip()")], "CISepiaTone", "is a filter of darkroom's own"),
    ([("none", "flip()")], "none", "is a filter of darkroom's own"), ([("1a", "flip()")], "1a", "a name has letters"),
    ([("a b", "flip()")], "a b", "a name has letters"), ([("", "flip()")], "", "a name has letters"),
    ([("a()", "flip()")], "a()", "a name has letters"),
    ([("a", "flip()"), ("A", "flop()")], "A", "another recipe of this name"),
    ((0..<20).map { ("a\($0)", $0 == 19 ? "flip()" : "a\($0 + 1)") }, "a0", "nested too deeply"),
    // Each doubles the one before.
    ((0..<10).map { ("a\($0)", $0 == 9 ? "flip()" : "a\($0 + 1) a\($0 + 1)") }, "a0", "may have 64 functions"),
    ((0..<1001).map { ("a\($0)", "flip()") }, "a1000", "there may be 1000 recipes"),
  ]

  @Test(arguments: wrong.indices)
  func `what cannot be a recipe is told with its name`(index: Int) {
    let (texts, name, message) = Self.wrong[index]
    do {
      _ = try NamedRecipes(parsing: texts)
      Issue.record("\(name) was taken")
    } catch {
      #expect(error.name == name && error.message.contains(message), "\(error)")
    }
  }

  @Test func `an error in a recipe with names has the place of its own text`() throws {
    let named = try NamedRecipes(parsing: [("thumb", "resize(256 256)")])
    let error = #expect(throws: RecipeError.self) { try Recipe(parsing: "thumb sepa()", named: named) }
    #expect(error?.offset == 6)
    let calls = #expect(throws: RecipeError.self) { try Recipe(parsing: "thumb(1)", named: named) }
    #expect(calls?.message == "thumb is a recipe; its name is written without parentheses: thumb")
    let misspelt = #expect(throws: RecipeError.self) { try Recipe(parsing: "flip() thmub", named: named) }
    #expect(misspelt?.offset == 7 && misspelt?.message.hasSuffix("; did you mean thumb?") == true)
    let many = String(repeating: "thumb ", count: 65)
    #expect(throws: RecipeError.self) { try Recipe(parsing: many, named: named) }
  }

  @Test(arguments: [16, 17])
  func `how deeply recipes may be nested does not depend on their order`(depth: Int) {
    let texts: [Text] = (1...depth).map { ("a\($0)", $0 == depth ? "flip()" : "a\($0 + 1)") }
    for order in [texts, texts.reversed(), Array(texts[8...] + texts[..<8])] {
      let isTaken = (try? NamedRecipes(parsing: order)) != nil
      #expect(isTaken == (depth == 16), "\(order.map(\.name))")
    }
  }
}
