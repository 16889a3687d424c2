import System

extension ReportRow {
  /// Calls `body` with each row of a report, or of a log of rows, that can be read. A line holds one row.
  /// - Throws: What `body` throws; `SystemError` when reading fails. What is no regular file has no rows.
  static func each(of file: OpenFile, _ body: (ReportRow) throws -> Void) throws {
    guard (try? file.status())?.kind == .file else { return }
    var rest: [UInt8] = []
    func read(_ line: ArraySlice<UInt8>) throws {
      let text = String(decoding: line.last == UInt8(ascii: ",") ? line.dropLast() : line, as: UTF8.self)
      guard text.hasPrefix("{\""), let row = try? ReportRow(parsing: text) else { return }
      try body(row)
    }
    try file.eachChunk { chunk in
      rest += chunk
      var start = rest.startIndex
      while let end = rest[start...].firstIndex(of: 0x0a) {
        try read(rest[start..<end])
        start = end + 1
      }
      rest.removeSubrange(..<start)
    }
    try read(rest[...])
  }
}
