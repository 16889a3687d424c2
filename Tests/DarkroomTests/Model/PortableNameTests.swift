import Testing

@testable import Model

/// Names that Windows, its shares and memory cards can store, too.
@Suite struct PortableNameTests {
  @Test(
    "what some systems cannot store is replaced by _, and nothing else is",
    arguments: [
      ("a<b>c:d\"e|f?g*h\\i", "a_b_c_d_e_f_g_h_i"), ("a.", "a_"), ("a. .", "a___"), ("a ", "a_"), (".a", ".a"),
      (" a", " a"),
      ("con", "_"), ("CON", "_"), ("Con.tar.gz", "_.tar.gz"), ("con .x", "_ .x"), ("nul.", "nul_"), ("prn", "_"),
      ("aux.x", "_.x"),
      ("com1", "_"), ("LPT9.b", "_.b"), ("com\u{b9}", "_"), ("com0", "_"), ("conin$", "_"), ("CONOUT$.a", "_.a"),
      ("com", "com"), ("com10", "com10"), ("com1a", "com1a"), ("console", "console"), ("nul-a", "nul-a"),
      ("lpt", "lpt"),
      ("acon", "acon"), ("x.con", "x.con"), ("comé", "comé"), ("", ""),
      ("a.b c-d_e~'!()[]{}#%&+,;=@$^`", "a.b c-d_e~'!()[]{}#%&+,;=@$^`"),
      ("photo\u{202e}gpj", "photo_gpj"), ("\u{2066}a\u{2069}", "_a_"), ("a\u{200f}b", "a_b"), ("a\u{61c}", "a_"),
      ("\u{feff}a", "_a"), ("a\u{200b}b", "a_b"), ("a\u{ad}b", "a_b"), ("\u{fff9}", "_"), ("a\u{7f}\u{85}b", "a__b"),
      ("a\u{2028}b", "a_b"),
      (
        "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
        "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}"
      ), ("👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"),
      ("\u{600}1", "\u{600}1"), ("🏴\u{e0067}\u{e0062}\u{e007f}", "🏴\u{e0067}\u{e0062}\u{e007f}"), ("日本.é", "日本.é"),
    ])
  func replaced(name: String, expected: String) {
    let found = PortableName.replacing(name)
    #expect(Array(found.utf8) == Array(expected.utf8), "\(found.debugDescription)")
    #expect(Array(PortableName.replacing(found).utf8) == Array(found.utf8))
  }
}
