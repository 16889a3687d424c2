import Testing

@Suite struct SwiftLexerTests {
  private func words(_ source: String) -> [String] {
    SwiftLexer.tokens(of: source).compactMap { token in
      if case .word(let word) = token { word } else { nil }
    }
  }

  @Test(arguments: [
    ("A // B\nC", ["A", "C"]),
    ("A /* B /* C */ D */ E", ["A", "E"]),
    ("A /* B", ["A"]),
    ("A /// \"B\nC", ["A", "C"]),
    (#"A("// B") C"#, ["A", "C"]),
    (#"A /* " */ B"#, ["A", "B"]),
  ])
  func `comments are dropped`(source: String, expected: [String]) {
    #expect(words(source) == expected)
  }

  @Test(arguments: [
    (#""A" B"#, ["B"]),
    (#""" A"#, ["A"]),
    (#""\"A" B"#, ["B"]),
    (#""\\" A"#, ["A"]),
    (###"#"A " B"# C"###, ["C"]),
    (###"#"\"# A"###, ["A"]),
    (###"##"A "# B"## C"###, ["C"]),
    ("\"\"\"\nA \"B\" \\\"\"\" C\n\"\"\" D", ["D"]),
    ("#\"\"\"\nA \"\"\" B\n\"\"\"# C", ["C"]),
    ("\"A\nB", ["B"]),
    ("1e9 0xFF A", ["A"]),
  ])
  func `literals are dropped`(source: String, expected: [String]) {
    #expect(words(source) == expected)
  }

  @Test(arguments: [
    (#""A \(B) C" D"#, ["B", "D"]),
    (#""A \(B("C \(D(E)) F")) G" H"#, ["B", "D", "E", "H"]),
    (#""A \(b.map { C($0) }) D""#, ["b", "map", "C", "$0"]),
    (###"#"A \(B) \#(C) D"# E"###, ["C", "E"]),
    ("\"\"\"\nA \\(B ? \"C\" : \"\")\n\"\"\" D", ["B", "D"]),
  ])
  func `the code of interpolations is kept`(source: String, expected: [String]) {
    #expect(words(source) == expected)
  }

  @Test(arguments: [
    (#"A(of: /B"C/) D"#, ["A", "of", "D"]),
    (#"case /\/A/: B"#, ["case", "B"]),
    ("#/A/B\n\"/# C", ["C"]),
    ("A / B / C", ["A", "B", "C"]),
    ("a/B + c/D", ["a", "B", "c", "D"]),
    ("reduce(1, /) / A", ["reduce", "A"]),
    ("x = (1)/A/B", ["x", "A", "B"]),
  ])
  func `regular expressions are distinguished from divisions`(source: String, expected: [String]) {
    #expect(words(source) == expected)
  }

  @Test func `names in backquotes are words`() {
    #expect(words("func `A b`() { `default` }") == ["func", "A b", "default"])
  }

  @Test func `operators with brackets and dots are one token`() {
    #expect(
      SwiftLexer.tokens(of: "->...A..<B.C") == [
        .symbol("->"), .symbol("..."), .word("A"), .symbol("..<"), .word("B"), .symbol("."), .word("C"),
      ])
  }
}
