/// Splits text into lines, pushed in pieces of any length. Lines end in LF or CR LF, which are removed.
struct ManifestLines {
  /// The longest line, in bytes, including a carriage return at its end.
  private let limit: Int

  private var number = 1

  /// The beginning of a line that ends in a later piece, up to one byte beyond the limit.
  private var kept: [UInt8] = []

  init(limit: Int) { self.limit = limit }

  /// Reads the next piece, and calls `body` with each complete line and its number from 1; with nil for one beyond the limit.
  mutating func push(
    _ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer?, Int) throws -> Void
  ) rethrows {
    var rest = piece[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      if kept.isEmpty {
        try body(line(UnsafeRawBufferPointer(rebasing: rest[..<end])), number)
      } else {
        keep(rest[..<end])
        try kept.withUnsafeBytes { try body(line($0), number) }
        kept.removeAll(keepingCapacity: true)
      }
      number += 1
      rest = rest[(end + 1)...]
    }
    keep(rest)
  }

  func finish(_ body: (UnsafeRawBufferPointer?, Int) throws -> Void) rethrows {
    if !kept.isEmpty { try kept.withUnsafeBytes { try body(line($0), number) } }
  }

  private mutating func keep(_ piece: Slice<UnsafeRawBufferPointer>) {
    kept.append(contentsOf: piece.prefix(limit + 1 - kept.count))
  }

  /// A line without the carriage return at its end; nil beyond the limit.
  private func line(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    if line.count > limit { return nil }
    return line.last == UInt8(ascii: "\r") ? UnsafeRawBufferPointer(rebasing: line.dropLast()) : line
  }
}
