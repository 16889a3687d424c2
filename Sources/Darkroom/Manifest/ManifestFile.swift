import Foundation

/// A manifest's private snapshot, read in lines or whole.
struct ManifestFile {
  /// A format that must be read whole may be this large, in bytes.
  static let wholeLimit = 64 << 20

  /// A line may be this long, in bytes.
  static let lineLimit = 1 << 20

  let path: String

  /// All bytes, a UTF-8 byte-order mark left out.
  /// - Throws: `ManifestProblem` with code `too-large`; `SystemError`.
  func whole() throws -> Data {
    let file = try OpenFile(reading: path)
    let size = try file.status().size
    guard size <= Self.wholeLimit else {
      throw ManifestProblem(
        .tooLarge,
        "the limit for this format is \(Self.wholeLimit) bytes; the file has \(size). Use .jsonl or .txt, which are "
          + "streamed", at: .file)
    }
    let data = try file.readAll()
    return data.starts(with: Self.byteOrderMark) ? data.dropFirst(Self.byteOrderMark.count) : data
  }

  /// Calls `body` with each line, without its line feed or CR LF, and its number from 1.
  /// - Throws: `ManifestProblem` with code `too-large` for a line beyond the limit; `SystemError`; what `body` throws.
  func eachLine(_ body: (UnsafeRawBufferPointer, Int) throws -> Void) throws {
    var number = 1
    var kept: [UInt8] = []
    try OpenFile(reading: path).eachChunk { chunk in
      var rest = chunk[...]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        if kept.isEmpty {
          try body(Self.content(UnsafeRawBufferPointer(rebasing: rest[..<end]), ofLine: number), number)
        } else {
          kept.append(contentsOf: rest[..<end])
          try Self.checkLength(kept.count, ofLine: number)
          try kept.withUnsafeBytes { try body(Self.content($0, ofLine: number), number) }
          kept.removeAll(keepingCapacity: true)
        }
        number += 1
        rest = rest[(end + 1)...]
      }
      kept.append(contentsOf: rest)
      try Self.checkLength(kept.count, ofLine: number)
    }
    if !kept.isEmpty { try kept.withUnsafeBytes { try body(Self.content($0, ofLine: number), number) } }
  }

  private static func checkLength(_ length: Int, ofLine number: Int) throws(ManifestProblem) {
    guard length <= lineLimit else {
      throw ManifestProblem(.tooLarge, "the limit for a line is \(lineLimit) bytes", at: .line(number))
    }
  }

  /// A line without the byte-order mark before the first one and the carriage return at its end.
  private static func content(_ bytes: UnsafeRawBufferPointer, ofLine number: Int) -> UnsafeRawBufferPointer {
    var line = bytes[...]
    if number == 1, line.starts(with: byteOrderMark) { line = line.dropFirst(byteOrderMark.count) }
    if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
    return UnsafeRawBufferPointer(rebasing: line)
  }

  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
}
