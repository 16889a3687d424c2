import JSON
import Model

/// Writes a report: its head, and then the rows, one per line, which are not held in memory.
package struct ReportWriter {
  private var text = "{"
  private var separator = "\n"
  private let write: (String) throws -> Void

  /// The size from which text is written, in bytes.
  private static let pieceBytes = 256 << 10

  /// - Parameter write: Appends text to the file.
  package init(_ head: ReportHead, to write: @escaping (String) throws -> Void) {
    for member in head.members { text += "\n\(JSONValue.string(member.key).text):\(member.value.text)," }
    text += "\n\(ReportHead.rowsBegin)"
    self.write = write
  }

  /// - Parameter row: JSON in one line.
  package mutating func add(_ row: String) throws {
    text += separator + row
    separator = ",\n"
    guard text.utf8.count >= Self.pieceBytes else { return }
    try write(text)
    text = ""
  }

  package mutating func end() throws { try write(text + "\n]}\n") }
}
