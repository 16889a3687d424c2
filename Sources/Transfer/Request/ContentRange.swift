/// The part of a body that a response with status 206 has: a `Content-Range` in bytes (RFC 9110, section 14.4).
struct ContentRange: Equatable {
  /// The places of its first and its last byte, from 0.
  let first: Int
  let last: Int

  /// The length of the whole body; `nil` when the server does not know it.
  let total: Int?

  /// - Returns: `nil` for a text that is no such range, or an impossible one.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false).compactMap(Self.number)
    guard ends.count == 2, ends[0] <= ends[1] else { return nil }
    (first, last, total) = (ends[0], ends[1], Self.number(parts[1]))
    guard parts[1] == "*" || total.map({ ends[1] < $0 }) == true else { return nil }
  }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
  }
}
