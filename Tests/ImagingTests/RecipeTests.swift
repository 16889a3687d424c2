import Testing

@testable import Imaging

@Suite struct RecipeTests {
  @Test(
    "a recipe has one canonical form",
    arguments: [
      ("none", "none"), (" NONE ", "none"), ("/* nothing */ none", "none"),
      ("sepia(0.8)", "sepia(0.8)"), ("sepia(80%)", "sepia(0.8)"), ("SEPIA( .8 )", "sepia(0.8)"),
      ("sepia()", "sepia(1)"), ("sepia(+1)", "sepia(1)"), ("sepia(3)", "sepia(1)"), ("sepia(250%)", "sepia(1)"),
      ("sepia(8e-1)", "sepia(0.8)"), ("sepia(80E-2)", "sepia(0.8)"), ("sepia(-0)", "sepia(0)"),
      ("CISepiaTone(0.8)", "sepia(0.8)"), ("cisepiatone()", "sepia(1)"),
      ("grayscale()", "grayscale(1)"), ("grayscale(1.5)", "grayscale(1)"), ("grayscale(50%)", "grayscale(0.5)"),
      ("invert()", "invert(1)"), ("invert(2)", "invert(1)"),
      ("opacity()", "opacity(1)"), ("opacity(50%)", "opacity(0.5)"), ("opacity(7)", "opacity(1)"),
      ("saturate()", "saturate(1)"), ("saturate(250%)", "saturate(2.5)"),
      ("brightness()", "brightness(1)"), ("brightness(3)", "brightness(3)"), ("brightness(0)", "brightness(0)"),
      ("contrast()", "contrast(1)"), ("contrast(200%)", "contrast(2)"),
      ("brightness(1e400)", "brightness(1000000)"),
      ("hue-rotate()", "hue-rotate(0deg)"), ("hue-rotate(0)", "hue-rotate(0deg)"),
      ("hue-rotate(90deg)", "hue-rotate(90deg)"), ("hue-rotate(-90DEG)", "hue-rotate(-90deg)"),
      ("hue-rotate(.5turn)", "hue-rotate(180deg)"), ("hue-rotate(100grad)", "hue-rotate(90deg)"),
      ("hue-rotate(0rad)", "hue-rotate(0deg)"), ("Hue-Rotate(1e2deg)", "hue-rotate(100deg)"),
      ("sepia(1)contrast(2)", "sepia(1) contrast(2)"),
      ("sepia(/* a lot */ 80% /**/)\n\tcontrast(2)\u{C}", "sepia(0.8) contrast(2)"),
      ("sepia(0.5) sepia(0.5)", "sepia(0.5) sepia(0.5)"),
      (#"\73 epia(1)"#, "sepia(1)"), (#"se\pia(1)"#, "sepia(1)"),
    ])
  func canonical(_ text: String, _ canonical: String) throws {
    let recipe = try Recipe(parsing: text)
    #expect(recipe.description == canonical)
    #expect(try Recipe(parsing: canonical) == recipe)
  }

  @Test(
    "what is not a recipe is refused with its place",
    arguments: [
      ("", "the recipe is empty", 0), ("  ", "the recipe is empty", 0), ("/* */", "the recipe is empty", 0),
      ("sepia", "sepia needs parentheses", 0), ("sepia (1)", "sepia needs parentheses", 0),
      ("sepai(1)", "did you mean sepia()?", 0), ("sepia(1) graysale()", "did you mean grayscale()?", 9),
      ("xyzzyplugh(1)", "there is no filter xyzzyplugh()", 0),
      ("sepia(-0.1)", "sepia() takes no negative amount: -0.1", 6), ("contrast(-1%)", "no negative amount", 9),
      ("sepia(0.8", "sepia( is not closed", 9), ("sepia(1) /* x", "the comment does not end", 9),
      ("sepia(1 2)", "sepia() takes no more arguments, found 2", 8), ("sepia(1, 2)", "no more arguments", 7),
      ("sepia(1deg)", "takes a number or a percentage, found 1deg", 6), ("sepia(red)", "found red", 6),
      ("sepia(1.)", "no more arguments, found .", 7),
      ("sepia(calc(1))", "calc() is not available", 6),
      ("hue-rotate(90)", "hue-rotate() needs a unit: 90deg", 11), ("hue-rotate(50%)", "takes an angle", 11),
      ("hue-rotate(1px)", "takes an angle", 11),
      ("none sepia()", "none stands alone", 5), ("sepia() none", "none stands alone", 8),
      ("sepia(1), invert(1)", "separated by spaces", 8), ("sepia(1))", "found )", 8), ("0.8", "found 0.8", 0),
      ("ä sepia(é)", "there is no filter ä()", 0), ("sepia(é)", "found é", 6),
      ("resize(fit 10 10)", "resize() is not available in this version", 0),
      ("sepia(1) BLUR(2px)", "blur() is not available in this version", 9),
      ("drop-shadow(1px 1px red)", "drop-shadow() is not available", 0), ("crop(1 1)", "crop() is not available", 0),
      ("rotate(90)", "rotate() is not available", 0), ("flip()", "flip() is not available", 0),
      ("flop()", "flop() is not available", 0), ("sharpen(1)", "sharpen() is not available", 0),
      ("url(#x)", "url() is not available", 0),
    ])
  func refused(_ text: String, _ message: String, _ offset: Int) {
    do {
      let recipe = try Recipe(parsing: text)
      Issue.record("\(text) was read as \(recipe)")
    } catch {
      #expect(error.message.contains(message), "\(error.message)")
      #expect(error.offset == offset)
    }
  }

  @Test("no text makes the parser stop the program")
  func anything() {
    let pieces = [
      "sepia(", ")", "0.8", "-", "+", ".", "e", "%", "deg", "/*", "*/", "\\", "ä", "\n", " ", ",", "none", "url(",
    ]
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 0...8, using: &generator)).compactMap { _ in pieces.randomElement() }.joined()
      if let recipe = try? Recipe(parsing: text) {
        #expect((try? Recipe(parsing: recipe.description)) == recipe, "\(text)")
      }
    }
  }

  @Test("every registered filter can be called without arguments and has words for people")
  func registry() throws {
    for filter in FilterRegistry.all {
      let recipe = try Recipe(parsing: "\(filter.name)()")
      #expect(recipe.description == "\(filter.name)(\(filter.defaultArgument))")
      #expect(!filter.summary.isEmpty && !filter.syntax.isEmpty)
    }
  }

  @Test("the explanation tells the filters in their order")
  func explanation() throws {
    let lines = try Recipe(parsing: "sepia(80%) invert()").explanation
    #expect(lines.count == 8)
    #expect(lines[3].hasPrefix("filter 1: sepia(0.8)"))
    #expect(lines[4].hasPrefix("filter 2: invert(1)"))
    #expect(lines[7].contains("4:2:0"))
    #expect(try Recipe(parsing: "invert()").explanation.last?.contains("of 4:4:4 to JPEG") == true)
    #expect(try Recipe(parsing: "opacity(0.5)").explanation.count == 6)
    #expect(Recipe.none.isEmpty)
  }
}
