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
      ("hue-rotate(1000000deg)", "hue-rotate(1000000deg)"), ("hue-rotate(2000000deg)", "hue-rotate(200deg)"),
      ("hue-rotate(-2000090deg)", "hue-rotate(-290deg)"), ("hue-rotate(1000000000000.25turn)", "hue-rotate(90deg)"),
      ("hue-rotate(4000000100grad)", "hue-rotate(90deg)"), ("hue-rotate(1e308turn)", "hue-rotate(0deg)"),
      ("hue-rotate(0rad)", "hue-rotate(0deg)"), ("Hue-Rotate(1e2deg)", "hue-rotate(100deg)"),
      ("crop(10 20)", "crop(10 20 center)"), ("CROP(+1e1 20 TOP)", "crop(10 20 top)"), ("rotate(90)", "rotate(90)"),
      ("pad(10 20)", "pad(10 20 center #00000000)"), ("pad(10 20 TOP Red)", "pad(10 20 top #ff0000)"),
      ("pad(10 20 rgb(1 2 3))", "pad(10 20 center #010203)"), ("background(white)", "background(#ffffff)"),
      ("resize(cover 10 20)", "resize(fill 10 20)"), ("resize(cover 10 20 center)", "resize(fill 10 20)"),
      ("resize(fill 10 20 Top enlarge)", "resize(fill 10 20 top enlarge)"),
      ("resize(FIT 10 20)", "resize(fit 10 20)"), ("resize(fill 1 2 Enlarge)", "resize(fill 1 2 enlarge)"),
      ("resize(10 20)", "resize(fit 10 20)"), ("resize(10 20 enlarge)", "resize(fit 10 20 enlarge)"),
      ("resize(fit 800 -)", "resize(fit 800 -)"), ("resize(- 600)", "resize(fit - 600)"),
      ("resize(800 - enlarge)", "resize(fit 800 - enlarge)"), ("resize(fit 800/**/-)", "resize(fit 800 -)"),
      ("resize(exact 1000000 1)", "resize(exact 1000000 1)"), ("flip( )", "flip()"), ("Flop()flip()", "flop() flip()"),
      ("blur()", "blur(0px)"), ("BLUR(1IN)", "blur(96px)"), ("blur(0)", "blur(0px)"), ("blur(9999px)", "blur(532px)"),
      ("blur(1Q)", "blur(0.9448818897637796px)"), ("sharpen(.5)", "sharpen(0.5)"),
      ("drop-shadow(1px 2px)", "drop-shadow(#000000 1px 2px 0px)"),
      ("drop-shadow(-1.5px 2.5px 3px Red)", "drop-shadow(#ff0000 -2px 2px 3px)"),
      ("drop-shadow(#1234 0 0)", "drop-shadow(#11223344 0px 0px 0px)"),
      ("drop-shadow(#abc 0 0)", "drop-shadow(#aabbcc 0px 0px 0px)"),
      ("drop-shadow(0 0 RebeccaPurple)", "drop-shadow(#663399 0px 0px 0px)"),
      ("drop-shadow(0 0 transparent)", "drop-shadow(#00000000 0px 0px 0px)"),
      ("drop-shadow(currentColor 0 0)", "drop-shadow(#000000 0px 0px 0px)"),
      ("drop-shadow(rgb(10%, 20%, 300%) 0 0)", "drop-shadow(#1a33ff 0px 0px 0px)"),
      ("drop-shadow(rgba(1, 2, 3, .5) 0 0)", "drop-shadow(#01020380 0px 0px 0px)"),
      ("drop-shadow(rgb(1 none 3 / 50%) 0 0)", "drop-shadow(#01000380 0px 0px 0px)"),
      ("drop-shadow(hsl(120 100% 25%) 0 0)", "drop-shadow(#008000 0px 0px 0px)"),
      ("drop-shadow(hsla(-0.5turn, 100%, 50%, 1) 0 0)", "drop-shadow(#00ffff 0px 0px 0px)"),
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
    "what is not a recipe is refused with the place of the error",
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
      ("resize()", "resize() needs a width, as in resize(fit 800 600) or resize(fit 800 -)", 7),
      ("resize(covers 10 10)", "takes one of fit, fill, cover, exact, found covers", 7),
      ("resize(fit 10 10 top)", "takes a position with fill and cover only; fit keeps all of the picture", 17),
      ("resize(fill 10 10 middle)", "takes no more arguments, found middle", 18),
      ("resize(fill 10 10 enlarge top)", "takes no more arguments, found top", 26),
      ("pad(10)", "pad() needs a height", 6), ("pad(10 10 red top)", "takes no more arguments, found top", 14),
      ("pad(10 10 reed)", "there is no colour reed", 10), ("pad(0 10)", "a width of 1 to 1000000", 4),
      ("background()", "background() needs a colour, such as white or #ff8800", 11),
      ("background(10)", "background() takes a colour, such as white or #ff8800, found 10", 11),
      ("resize(100)", "resize() needs a height, as in resize(fit 100 -) or resize(fit 100 600)", 10),
      ("resize(-)", "resize() needs a height, as in resize(fit - 600) or resize(fit 800 600)", 8),
      ("resize(- -)", "resize() needs a width or a height beside -", 7), ("resize(--)", "takes one of fit", 7),
      ("resize(fill 10 -)", "resize() takes - for a side with fit only; fill needs both sides", 12),
      ("resize(exact - 10)", "- for a side with fit only", 13), ("resize(enlarge)", "takes one of fit", 7),
      (
        "resize(10,20)",
        "resize() takes a height as a whole number without a unit, found ,; arguments are separated by", 9
      ),
      ("resize(fit 10)", "needs a height", 13), ("resize(fit 10 10 larger)", "no more arguments, found larger", 17),
      ("resize(fit 10 -1)", "a height of 1 to 1000000, found -1", 14), ("resize(fit, 10, 10)", "found ,", 10),
      ("blur(2)", "blur() needs a unit: 2px", 5), ("blur(-1px)", "blur() takes no negative deviation: -1px", 5),
      ("blur(1em)", "takes lengths in px, cm, mm, Q, in, pc or pt, found 1em", 5), ("blur(5%)", "found 5%", 5),
      ("blur(red)", "no more arguments, found red", 5), ("blur(1px 2px)", "no more arguments", 9),
      ("drop-shadow()", "drop-shadow() needs a horizontal offset", 12),
      ("drop-shadow(red)", "needs a horizontal offset", 15), ("drop-shadow(1px)", "needs a vertical offset", 15),
      ("drop-shadow(1px 1px -1px)", "no negative deviation", 20),
      ("drop-shadow(1px 1px 1px 1px)", "no more arguments", 24),
      ("drop-shadow(red 1px 1px red)", "no more arguments, found red", 24),
      ("drop-shadow(1px 1px reed)", "there is no colour reed", 20), ("drop-shadow(#12345 1px 1px)", "found #12345", 12),
      ("drop-shadow(#ggg 1px 1px)", "hexadecimal digits, found #ggg", 12),
      ("drop-shadow(1px 1px rgb(1 2))", "rgb() is not complete", 27),
      ("drop-shadow(1px 1px rgb(1, 2 3))", "rgb() expects ,, found 3", 29),
      ("drop-shadow(1px 1px rgb(1 2 3", "drop-shadow( is not closed", 29),
      ("drop-shadow(1px 1px rgb(1 2 3 4))", "rgb() expects ), found 4", 30),
      ("drop-shadow(1px 1px lab(1 2 3))", "lab() is not available", 20),
      ("sharpen()", "sharpen() needs a sigma", 8), ("sharpen(0)", "a sigma of 0.1 to 10, found 0", 8),
      ("sharpen(11)", "a sigma of 0.1 to 10, found 11", 8), ("sharpen(1px)", "as a number without a unit", 8),
      ("crop()", "crop() needs a width", 5), ("crop(10)", "crop() needs a height", 7),
      ("crop(10 5.5)", "takes a height as a whole number without a unit, found 5.5", 8),
      ("crop(10px 5px)", "takes a width as a whole number without a unit, found 10px", 5),
      ("crop(50% 50%)", "found 50%", 5), ("crop(0 5)", "crop() takes a width of 1 to 1000000, found 0", 5),
      ("crop(1 1000001)", "a height of 1 to 1000000, found 1000001", 7), ("crop(1e30 1)", "found 1e30", 5),
      ("crop(1 1 middle)", "takes one of center, top, bottom, left, right, found middle", 9),
      ("crop(1 1 top left)", "no more arguments, found left", 13),
      ("crop(100,200)", "found ,; arguments are separated by spaces", 8),
      ("sepia(0,8)", "found ,; decimals are written with a point: 0.8", 7),
      ("sepia(50,5%)", "decimals are written with a point: 50.5%", 8),
      ("sepia(0, 8)", "takes no more arguments, found ,", 7),
      ("blur(1,5px)", "decimals are written with a point: 1.5px", 5), ("sharpen(0,5)", "written with a point: 0.5", 8),
      ("hue-rotate(22,5deg)", "decimals are written with a point: 22.5deg", 11),
      ("drop-shadow(1,5px 2px)", "decimals are written with a point: 1.5px", 12),
      ("gray()", "there is no filter gray(); did you mean grayscale()?", 0), ("grey", "did you mean grayscale()?", 0),
      ("foo()", "there is no filter foo(); \"darkroom filters\" lists them", 0),
      (
        "card", "there is no filter card(), and no recipe card in the configuration; \"darkroom filters\" lists them", 0
      ),
      ("hue()", "did you mean hue-rotate()?", 0),
      ("rotate()", "rotate() needs an angle: one of 90, 180, 270", 7), ("rotate(45)", "takes one of 90, 180, 270", 7),
      ("rotate(90deg)", "found 90deg", 7), ("rotate(-90)", "found -90", 7), ("flip(1)", "no more arguments", 5),
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

  @Test("a recipe has at most 64 functions, and one that has more is refused with both numbers", arguments: [65, 1000])
  func tooMany(_ count: Int) throws {
    let function = "drop-shadow(rgb(1 2 3) 1px 1px) "
    #expect(try Recipe(parsing: String(repeating: function, count: 64)).filters.count == 64)
    let error = #expect(throws: RecipeError.self) { try Recipe(parsing: String(repeating: function, count: count)) }
    #expect(error?.message == "a recipe may have 64 functions; this one has \(count)")
    #expect(error?.offset == 64 * function.utf8.count)
  }

  @Test func `a recipe of more than 64 KiB is refused without being parsed, and one below is parsed in linear time`() {
    for text in ["(", ".", "#", "\"", "\\", "/", "é", "\\("] {
      let most = Recipe.maxLength / text.utf8.count
      for (count, isRefused) in [(most, false), (most + 1, true), (40 * most, true)] {
        let error = #expect(throws: RecipeError.self) { try Recipe(parsing: String(repeating: text, count: count)) }
        #expect(error?.message.hasPrefix("a recipe may have 65536 bytes") == isRefused, "\(text) \(count)")
      }
    }
  }

  @Test("no text crashes the parser")
  func anything() {
    let pieces = [
      "sepia(", "drop-shadow(", "rgb(", "#f00", "px", "red", "/", "resize(fit ", "crop(", ")", "0.8",
      "7", "-", "+", ".", "e", "%", "deg", "/*", "*/", "\\", "ä", "\n", " ", ",", "none", "url(",
    ]
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let text = (0..<Int.random(in: 0...8, using: &generator)).compactMap { _ in pieces.randomElement() }.joined()
      if let recipe = try? Recipe(parsing: text) {
        #expect((try? Recipe(parsing: recipe.description)) == recipe, "\(text)")
      }
    }
  }

  @Test("every registered filter that has a default can be called without arguments, and all have a summary")
  func registry() throws {
    for filter in FilterRegistry.all {
      #expect(!filter.summary.isEmpty)
      guard let standard = filter.defaultArgument else { continue }
      #expect(!filter.syntax.isEmpty)
      #expect(try Recipe(parsing: "\(filter.name)()").description == "\(filter.name)(\(standard))")
    }
  }

  @Test("the explanation has the filters in order")
  func explanation() throws {
    let lines = try Recipe(parsing: "sepia(80%) invert()").explanation
    #expect(lines.count == 8)
    #expect(lines[3].hasPrefix("filter 1: sepia(0.8)"))
    #expect(lines[4].hasPrefix("filter 2: invert(1)"))
    #expect(lines[7].contains("4:2:0"))
    #expect(try Recipe(parsing: "invert()").explanation.last?.contains("of 4:4:4 to JPEG") == true)
    #expect(try Recipe(parsing: "opacity(0.5)").explanation.count == 6)
    let reduced = try Recipe(parsing: "resize(fit 9 9) sepia(1)").explanation.last
    #expect(reduced?.contains("decode at 1/2, 1/4 or 1/8") == true)
    #expect(try Recipe(parsing: "resize(fit 9 9)").explanation.last?.hasSuffix("stored planes are resampled") == true)
    #expect(Recipe.none.isEmpty)
    let held = try Recipe(parsing: "blur(5px) crop(5 5) resize(fit 9 9) rotate(90) blur(0.1px)").explanation
    #expect(held[3].hasSuffix("; holds 27 rows") && held[5].hasSuffix("; holds 41 rows"))
    #expect(!held[4].contains("holds") && held[6].hasSuffix("; holds the whole picture") && !held[7].contains("holds"))
    #expect(!held.contains { $0.hasPrefix("faster") })
  }
}
