import Glibc

/// `entries.jsonl`: a line for each row, as rows end.
final class EntriesLog: Sendable {
  private let file: OpenFile

  /// - Throws: `SystemError`.
  init(_ path: String) throws(SystemError) { file = try OpenFile(appending: path) }

  /// Appends whole lines, or none.
  /// - Throws: `SystemError`.
  func append(_ rows: [String]) throws(SystemError) {
    let size = try file.status().size
    do {
      try file.write(rows.map { $0 + "\n" }.joined())
    } catch {
      ftruncate(file.descriptor, size)
      throw error
    }
  }
}
