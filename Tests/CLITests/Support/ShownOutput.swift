import Foundation

/// What a page says that commands print. They may print other lines between those that it shows. `…` stands for any text in a
/// line, or for any lines; times and durations are not compared.
struct ShownOutput {
  let text: String

  /// The first line that was not printed after those before it; nil when all of them were.
  func firstMissingLine(in printed: String) -> String? {
    var rest = Self.lines(printed)[...]
    for line in Self.lines(text) where line != "…" {
      guard let place = rest.firstIndex(where: { Self.matches($0, line) }) else { return line }
      rest = rest[(place + 1)...]
    }
    return nil
  }

  /// The lines that are not empty, with the same time and duration in all of them.
  private static func lines(_ text: String) -> [String] {
    text.replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/, with: "TIME")
      .replacing(/\ in\ [0-9]+\.[0-9]\ s/, with: " in SECONDS")
      .split(separator: "\n").map(String.init)
  }

  private static func matches(_ line: String, _ shown: String) -> Bool {
    let pieces = shown.components(separatedBy: "…")
    guard pieces.count > 1 else { return line == shown }
    guard line.hasPrefix(pieces[0]) else { return false }
    var rest = line.dropFirst(pieces[0].count)
    for piece in pieces[1..<(pieces.count - 1)] {
      guard let range = rest.firstRange(of: piece) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(pieces[pieces.count - 1])
  }
}
