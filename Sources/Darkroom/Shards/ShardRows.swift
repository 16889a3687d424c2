import Model
import System

/// The lines of a file, which is opened only while a piece of it is read: there may be more files than descriptors.
struct LineReader {
  private let open: () throws(SystemError) -> OpenFile
  private var offset = 0
  private var buffer: ArraySlice<UInt8> = []
  private var isAtEnd = false

  /// Where the last line began.
  private(set) var start = 0

  private static let piece = 64 << 10

  init(_ open: @escaping () throws(SystemError) -> OpenFile) { self.open = open }

  /// The next line without its line break, also the last one if that has none; nil at the end.
  mutating func next() throws(SystemError) -> String? {
    var searched = buffer.startIndex
    start = offset - buffer.count
    while true {
      if let end = buffer[searched...].firstIndex(of: 0x0a) {
        defer { buffer = buffer[(end + 1)...] }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      if isAtEnd {
        defer { buffer = [] }
        return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
      }
      let piece = try open().bytes(Self.piece, at: offset)
      (offset, isAtEnd) = (offset + piece.count, piece.isEmpty)
      searched = buffer.endIndex
      buffer += piece
    }
  }
}

/// The rows of a shard, in the order of its manifest.
struct ShardRows {
  private var next: () throws -> String?
  private var waiting: String?

  /// The rows of a report.
  init(report file: @escaping () throws(SystemError) -> OpenFile) throws {
    var lines = LineReader(file)
    while let line = try lines.next(), line != ReportHead.rowsBegin {}
    self.init { () throws in
      guard let line = try lines.next(), line.hasPrefix("{") else { return nil }
      return line.utf8.last == UInt8(ascii: ",") ? String(Substring(line.utf8.dropLast())) : line
    }
  }

  /// The rows that have ended of a shard that has not. A line that was being written is left out.
  /// - Throws: `SystemError`.
  init(log file: OpenFile) throws {
    var lines = LineReader { () throws(SystemError) in file }
    var rows: [(index: Int, start: Int, count: Int)] = []
    while let line = try lines.next() {
      guard let row = try? ReportRow(parsing: line), row.state != .cancelled else { continue }
      rows.append((row.index, lines.start, line.utf8.count))
    }
    // The rows of an entry's variants stay in their order.
    rows.sort { ($0.index, $0.start) < ($1.index, $1.start) }
    var rest = rows.makeIterator()
    self.init { () throws in
      try rest.next().map { String(decoding: try file.bytes($0.count, at: $0.start), as: UTF8.self) }
    }
  }

  private init(_ next: @escaping () throws -> String?) { self.next = next }

  /// The next rows, if they are those of an entry.
  /// - Parameter entry: The entry's number in the shard, from 0.
  mutating func take(_ entry: Int) throws -> [String] {
    var rows: [String] = []
    while let row = try waiting ?? next() {
      waiting = row
      guard ReportRow.index(row) == entry else { return rows }
      rows.append(row)
      waiting = nil
    }
    return rows
  }

  /// Whether all rows were taken.
  mutating func isAtEnd() throws -> Bool {
    waiting = try waiting ?? next()
    return waiting == nil
  }

  /// A row with the entry's number in the whole manifest.
  static func renumbered(_ row: String, _ entry: Int) -> String {
    let rest = row.utf8.drop { $0 != UInt8(ascii: ",") }
    return #"{"index":"# + "\(entry)" + String(Substring(rest))
  }
}
