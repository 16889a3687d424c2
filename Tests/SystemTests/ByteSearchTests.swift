import System
import Testing

struct ByteSearchTests {
  @Test(
    "the first occurrence from a position on is found",
    arguments: [
      ("", "a", 0, nil), ("a", "ab", 0, nil), ("ab", "ab", 0, 0..<2), ("aab", "ab", 0, 1..<3), ("abab", "ab", 1, 2..<4),
      ("abab", "ab", 3, nil), ("ab", "ab", 2, nil), ("a\0b\0b", "\0b", 2, 3..<5), ("äö", "ö", 0, 2..<4),
    ] as [(String, String, Int, Range<Int>?)])
  func firstRange(text: String, mark: String, start: Int, expected: Range<Int>?) {
    #expect(Array(text.utf8).firstRange(ofBytes: mark, from: start) == expected)
  }
}
