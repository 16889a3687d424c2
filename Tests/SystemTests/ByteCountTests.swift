import Testing

@testable import System

@Suite struct ByteCountTests {
  static let counts: [(Int, String)] = [
    (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (1536, "1.5 KiB"), (300_000, "292.9 KiB"),
    ((1 << 20) - 1, "1023.9 KiB"), (256 << 20, "256 MiB"), (3 << 40, "3 TiB"), (.max, "8388607.9 TiB"),
  ]

  @Test(arguments: counts)
  func `bytes are told in the largest unit of which there is one, rounded down`(bytes: Int, text: String) {
    #expect(ByteCount(bytes).description == text)
  }
}
