import Testing

@testable import DarkroomCLI

@Suite struct TextLayoutTests {
  @Test(
    arguments: [
      ("fits as it is", 13, "fits as it is"), ("two  spaces stay", 20, "two  spaces stay"),
      ("cats: a b: the picture is gone", 14, "cats: a b: the\n  picture is\n  gone"),
      ("  remedy: retry later", 12, "  remedy:\n    retry\n    later"),
      ("see http://example.com/long", 10, "see\n  http://example.com/long"), ("日本 語語", 6, "日本\n  語語"),
      ("", 5, ""), ("      ", 3, "      "),
    ])
  func `a line of a terminal is broken between words, which stay whole`(line: String, columns: Int, expected: String) {
    #expect(TextLayout.folded(line, columns: columns) == expected)
  }
}
