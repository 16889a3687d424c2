import Testing

@testable import Transfer

@Suite struct ContentRangeTests {
  @Test(
    arguments: [("bytes 5-9/10", 5, 9, 10), ("Bytes  0-0/1", 0, 0, 1), ("bytes 7-8/*", 7, 8, nil)]
      as [(String, Int, Int, Int?)])
  func `ranges of bytes are understood`(text: String, first: Int, last: Int, total: Int?) {
    let range = ContentRange(text)
    #expect(range?.first == first && range?.last == last && range?.total == total)
  }

  @Test(arguments: [
    "", "bytes", "bytes 5-9", "bytes */10", "bytes 9-5/10", "bytes 5-10/10", "bytes 5-9/x", "lines 5-9/10",
    "bytes 5-/10", "bytes -9/10", "bytes +5-9/10", "bytes 5-9/10 11", "bytes 5-99999999999999999999/10",
    "bytes 1-2-3/10",
  ])
  func `what is no possible range of bytes is none`(text: String) { #expect(ContentRange(text) == nil) }
}
