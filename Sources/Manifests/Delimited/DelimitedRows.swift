import System

/// Splits text into rows of cells by RFC 4180, pushed in pieces of any length. Lines end in LF or CR LF. In a cell that does
/// not begin with a quote, a quote is a character.
struct DelimitedRows {
  struct Cell {
    /// Without quotes; doubled quotes are single ones.
    let text: String

    /// The line of its beginning, from 1; the column counts Unicode scalars.
    let line: Int
    let column: Int
  }

  struct Row {
    /// The line of its beginning, from 1.
    let line: Int

    /// At most the limit of cells; incomplete when the row has an error.
    let cells: [Cell]

    /// The errors that make the row unreadable: `syntax`, `encoding` or `too-large`.
    let problems: [ManifestProblem]

    let count: Int

    /// The position of the first excess cell, else of the row's end.
    let end: ManifestProblem.Location

    /// Whether an excess cell has text.
    let hasSurplusText: Bool
  }

  private enum State {
    case cellBegins, inCell, inQuotes, afterQuote, afterReturn
    /// The rest of the line is skipped: where its cells end is unknown.
    case damaged
  }

  /// The longest row, in bytes of UTF-8, line breaks and quotes included.
  static let lengthLimit = 1 << 20

  /// The number of cells of a row that are kept.
  var cellLimit: Int

  private var separator: UInt8?
  private let separators: [UInt8]

  private var state = State.cellBegins
  private var (line, column) = (1, 1)
  private var (cellLine, cellColumn) = (1, 1)
  private var rowLine = 1
  private var rowLength = 0
  private var cell: [UInt8] = []
  private var cells: [Cell] = []
  private var count = 0
  private var surplus: ManifestProblem.Location?
  private var hasSurplusText = false
  private var problems: [ManifestProblem] = []

  /// - Parameter separators: The first of these in the first row separates cells; the first of the list when none is
  ///   there.
  init(separators: [UInt8], cellLimit: Int) {
    self.separators = separators
    self.cellLimit = cellLimit
    if separators.count == 1 { separator = separators.first }
  }

  /// Reads the next piece, and calls `body` with each complete row.
  /// - Throws: `ManifestProblem` with code `too-large` for quoted text that does not end; what `body` throws.
  mutating func push(
    _ piece: UnsafeRawBufferPointer, _ body: (inout DelimitedRows, Row) throws -> Void
  ) throws {
    for byte in piece {
      rowLength += 1
      if rowLength > Self.lengthLimit, state != .damaged {
        if state == .inQuotes { throw tooLong }
        fail(tooLong)
      }
      switch (state, byte) {
      case (.inQuotes, Self.quote): state = .afterQuote
      case (.inQuotes, _): cell.append(byte)
      case (_, Self.lineFeed): try endRow(body)
      case (.damaged, _): break
      case (.afterReturn, _): fail(problem("a carriage return without a line feed ends no row", before: 1))
      case (_, Self.carriageReturn): state = .afterReturn
      case (_, _) where isSeparator(byte): endCell()
      case (.cellBegins, Self.quote): state = .inQuotes
      case (.afterQuote, Self.quote):
        cell.append(byte)
        state = .inQuotes
      case (.afterQuote, _): fail(problem("a separator or the end of the row must follow a closing quote"))
      case (_, _):
        cell.append(byte)
        state = .inCell
      }
      advance(past: byte)
    }
  }

  /// Ends the text.
  /// - Throws: `ManifestProblem` with code `syntax` for a quote that is never closed; what `body` throws.
  mutating func finish(_ body: (inout DelimitedRows, Row) throws -> Void) throws {
    guard state != .inQuotes else {
      throw ManifestProblem(.syntax, "the quote is never closed", at: .line(cellLine, column: cellColumn))
    }
    if rowLength > 0 { try endRow(body) }
  }

  private mutating func advance(past byte: UInt8) {
    if byte == Self.lineFeed {
      line += 1
      column = 1
    } else if byte & 0xc0 != 0x80 {
      column += 1
    }
    guard state == .cellBegins else { return }
    (cellLine, cellColumn) = (line, column)
    if rowLength == 0 { rowLine = line }
  }

  private mutating func isSeparator(_ byte: UInt8) -> Bool {
    if let separator { return byte == separator }
    guard separators.contains(byte) else { return false }
    separator = byte
    return true
  }

  /// Records the row's error, and skips the rest of the line.
  private mutating func fail(_ problem: ManifestProblem) {
    problems.append(problem)
    state = .damaged
  }

  private mutating func endCell() {
    count += 1
    state = .cellBegins
    if count > cellLimit {
      surplus = surplus ?? .line(cellLine, column: cellColumn)
      hasSurplusText = hasSurplusText || !cell.isEmpty
      return cell.removeAll(keepingCapacity: true)
    }
    if let text = String(validating: cell, as: UTF8.self), !cell.contains(0) {
      if text.hasTooManyMarks {
        problems.append(.tooManyMarks(at: .line(cellLine, column: cellColumn)))
      } else {
        cells.append(Cell(text: text, line: cellLine, column: cellColumn))
      }
    } else {
      problems.append(
        ManifestProblem(
          .encoding,
          "the cell is not text in UTF-8, nor in UTF-16 with a byte-order mark, and the file as a whole is not in "
            + "Windows-1252 either", at: .line(cellLine, column: cellColumn)))
    }
    cell.removeAll(keepingCapacity: true)
  }

  private mutating func endRow(_ body: (inout DelimitedRows, Row) throws -> Void) throws {
    let end = column - (state == .afterReturn ? 1 : 0)
    if state == .damaged { cell.removeAll(keepingCapacity: true) } else { endCell() }
    state = .cellBegins
    let row = Row(
      line: rowLine, cells: cells, problems: problems, count: count, end: surplus ?? .line(line, column: end),
      hasSurplusText: hasSurplusText)
    problems.removeAll()
    if cells.contains(where: { !$0.text.isEmpty }) { separator = separator ?? separators.first }
    cells.removeAll(keepingCapacity: true)
    (count, rowLength, surplus, hasSurplusText) = (0, 0, nil, false)
    try body(&self, row)
  }

  private var tooLong: ManifestProblem {
    let hint = state == .inQuotes ? "; is the quote at line \(cellLine), column \(cellColumn) never closed?" : ""
    return ManifestProblem(.tooLarge, "the limit for a row is \(Self.lengthLimit) bytes\(hint)", at: .line(rowLine))
  }

  private func problem(_ message: String, before: Int = 0) -> ManifestProblem {
    ManifestProblem(.syntax, message, at: .line(line, column: column - before))
  }

  private static let quote = UInt8(ascii: "\"")
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}
