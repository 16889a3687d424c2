import Glibc
import Model
import System

/// The offsets of the rows that a page shows in a file with one row on each line: the `entries.jsonl` of a live job, in
/// which rows are in the order in which they ended, or a report. Each line is read once, and three numbers are kept for
/// a row.
struct RowOffsets {
  private struct Extent {
    let index: Int
    let offset: Int
    let count: Int
  }

  private static let chunk = 256 << 10

  private let limit: Int
  private var failed: [Extent] = []
  private var others: [Extent] = []

  /// The offset up to which the file was read, and its identity.
  private var end = 0
  private var node: FileIdentity?

  /// The number of rows, and of failed ones among them.
  private(set) var counts = (total: 0, failed: 0)

  /// - Parameter limit: The most rows that are shown. Default: `JobPage.limit`.
  init(limit: Int = JobPage.limit) { self.limit = limit }

  /// Reads the lines that were added to the file. A different or shorter file is read from its beginning.
  /// - Returns: Whether lines were added.
  mutating func update(from file: OpenFile) throws(SystemError) -> Bool {
    let found = try file.status()
    guard found.kind == .file else { return false }
    if node.map({ !$0.isSameNode(as: found.identity) }) ?? true || found.size < end { self = RowOffsets(limit: limit) }
    node = found.identity
    let before = end
    var size = Self.chunk
    while end < found.size {
      var bytes = try file.bytes(min(size, found.size - end), at: end)
      if bytes.isEmpty { break }
      let read = add(&bytes)
      end += read
      // The row is longer than a chunk, or is being written.
      if read == 0 {
        if end + bytes.count >= found.size { break }
        size *= 2
      }
    }
    return end > before
  }

  /// Reads the complete lines of a piece of the file.
  /// - Returns: The number of bytes of these lines.
  private mutating func add(_ bytes: inout [UInt8]) -> Int {
    let count = bytes.count
    return bytes.withUnsafeMutableBytes { buffer in
      guard let base = buffer.baseAddress else { return 0 }
      var start = 0
      while start < count, let newline = memchr(base + start, 0x0a, count - start) {
        newline.storeBytes(of: 0, as: UInt8.self)
        let length = newline - (base + start)
        add((base + start).assumingMemoryBound(to: CChar.self), length, at: end + start)
        start += length + 1
      }
      return start
    }
  }

  private mutating func add(_ line: UnsafePointer<CChar>, _ count: Int, at offset: Int) {
    // In a report, rows are followed by a comma.
    let count = count > 0 && line[count - 1] == 0x2c ? count - 1 : count
    guard count > 0, line[count - 1] == 0x7d, let index = ReportRow.index(line) else { return }
    let extent = Extent(index: index, offset: offset, count: count)
    counts.total += 1
    if ReportRow.isFailed(line) {
      counts.failed += 1
      Self.add(extent, to: &failed, limit)
    } else {
      Self.add(extent, to: &others, limit)
    }
  }

  /// Keeps the rows that are first in the manifest.
  private static func add(_ extent: Extent, to extents: inout [Extent], _ limit: Int) {
    extents.append(extent)
    guard extents.count >= 2 * limit else { return }
    extents.sort { $0.index < $1.index }
    extents.removeLast(extents.count - limit)
  }

  /// Calls `body` with the rows that are shown, in the order of the manifest, each with a terminating zero.
  /// - Throws: `SystemError`; errors of `body`.
  mutating func each(
    of file: OpenFile, _ body: (UnsafePointer<CChar>, _ count: Int) throws(SystemError) -> Void
  ) throws(SystemError) {
    failed.sort { $0.index < $1.index }
    others.sort { $0.index < $1.index }
    let shown = failed.prefix(limit) + others.prefix(max(0, limit - failed.count))
    for extent in shown.sorted(by: { $0.index < $1.index }) {
      let row = try file.bytes(extent.count, at: extent.offset)
      guard row.count == extent.count else { continue }
      let text = row.map(CChar.init(bitPattern:)) + [0]
      try text.withUnsafeBufferPointer { text throws(SystemError) in
        if let start = text.baseAddress { try body(start, extent.count) }
      }
    }
  }
}
