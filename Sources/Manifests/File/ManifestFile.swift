import Foundation
import System

/// A manifest's private snapshot, read in pieces, in lines or whole; unpacked on the way when it is gzip.
package struct ManifestFile {
  /// A format that must be read whole may be this large when it is unpacked, in bytes.
  package static let wholeLimit = 64 << 20

  /// A line may be this long, in bytes.
  static let lineLimit = 1 << 20

  package let path: String
  package let isCompressed: Bool

  package init(path: String, isCompressed: Bool) {
    self.path = path
    self.isCompressed = isCompressed
  }

  /// A file whose name tells whether it is gzip.
  package init(path: String) { self.init(path: path, isCompressed: Self.isCompressed(path)) }

  /// Whether a name or an extension says that the file is packed with gzip.
  package static func isCompressed(_ name: some StringProtocol) -> Bool {
    let name = name.lowercased()
    return name == "gz" || name.hasSuffix(".gz")
  }

  /// All bytes, a UTF-8 byte-order mark left out.
  /// - Throws: `ManifestProblem` with code `too-large`; as `eachChunk`.
  func whole() throws -> Data {
    var data = Data()
    try eachChunk { chunk in
      guard data.count + chunk.count <= Self.wholeLimit else {
        throw ManifestProblem(
          .tooLarge,
          "the limit for this format is \(Self.wholeLimit) bytes\(isCompressed ? ", unpacked" : ""); the file has "
            + "more. Use .jsonl, .csv or .txt, which are streamed", at: .file)
      }
      data.append(contentsOf: chunk)
    }
    return data
  }

  /// Calls `body` with each line, without its line feed or CR LF, and its number from 1. Of a line beyond the limit it
  /// gets nil, and the lines after it follow.
  /// - Throws: As `eachChunk`.
  func eachLine(_ body: (UnsafeRawBufferPointer?, Int) throws -> Void) throws {
    var number = 1
    var kept: [UInt8] = []
    try eachChunk { chunk in
      var rest = chunk[...]
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        if kept.isEmpty {
          try body(Self.line(UnsafeRawBufferPointer(rebasing: rest[..<end])), number)
        } else {
          Self.keep(rest[..<end], after: &kept)
          try kept.withUnsafeBytes { try body(Self.line($0), number) }
          kept.removeAll(keepingCapacity: true)
        }
        number += 1
        rest = rest[(end + 1)...]
      }
      Self.keep(rest, after: &kept)
    }
    if !kept.isEmpty { try kept.withUnsafeBytes { try body(Self.line($0), number) } }
  }

  /// What `eachLine` has no line for.
  static func tooLong(line number: Int) -> ManifestProblem {
    ManifestProblem(.tooLarge, "the limit for a line is \(lineLimit) bytes", at: .line(number))
  }

  /// Calls `body` with the content in pieces of any length, without its byte-order mark.
  /// - Throws: `ManifestProblem` with code `encoding` for UTF-16, `syntax` for damaged gzip, `too-large` for gzip beyond
  ///   `GzipReader`'s limits; `SystemError`; what `body` throws.
  func eachChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var isFirst = true
    try eachRawChunk { chunk in
      let mark = isFirst ? ByteOrderMark(of: chunk) : nil
      isFirst = false
      guard mark ?? .utf8 == .utf8 else { throw Self.noUTF16 }
      try body(UnsafeRawBufferPointer(rebasing: chunk.dropFirst(mark?.length ?? 0)))
    }
  }

  /// The same for a table, as UTF-8: UTF-16 with a byte-order mark, and what is in Windows-1252 as a whole, is converted.
  /// - Returns: A warning when it is in Windows-1252.
  /// - Throws: As `eachChunk`, but not for UTF-16.
  func eachTableChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> ManifestWarning? {
    var isFirst = true
    var transcoder: UTF16Transcoder?
    // Until the first byte beyond ASCII it does not matter.
    var (isUTF8, warning) = (false, ManifestWarning?.none)
    try eachRawChunk { chunk in
      let mark = isFirst ? ByteOrderMark(of: chunk) : nil
      if let mark {
        isUTF8 = true
        if mark != .utf8 { transcoder = UTF16Transcoder(isBigEndian: mark == .utf16BigEndian) }
      }
      isFirst = false
      let content = UnsafeRawBufferPointer(rebasing: chunk.dropFirst(mark?.length ?? 0))
      if !isUTF8, warning == nil, content.contains(where: { $0 >= 0x80 }) {
        warning = try Windows1252.line(of: self).map(Windows1252.warning)
        isUTF8 = warning == nil
      }
      if transcoder != nil {
        try transcoder?.push(content, body)
      } else if warning != nil {
        try Windows1252.convert(content, body)
      } else {
        try body(content)
      }
    }
    try transcoder?.finish(body)
    return warning
  }

  private static var noUTF16: ManifestProblem {
    ManifestProblem(
      .encoding, "the file is UTF-16; in this format it must be UTF-8. Only .csv and .tsv may be UTF-16", at: .file)
  }

  /// Calls `body` with the content as it stands in the file, unpacked. All pieces but the last have 256 KiB.
  func eachRawChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let file = try OpenFile(reading: path)
    guard isCompressed else { return try file.eachChunk(body) }
    let gzip = GzipReader()
    try file.eachChunk { try gzip.unpack($0, body) }
    try gzip.finish(body)
  }

  /// Keeps a piece of a line, up to one byte more than a line may have.
  private static func keep(_ piece: Slice<UnsafeRawBufferPointer>, after kept: inout [UInt8]) {
    kept.append(contentsOf: piece.prefix(lineLimit + 1 - kept.count))
  }

  /// A line without the carriage return at its end; nil beyond the limit.
  private static func line(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    if line.count > lineLimit { return nil }
    return line.last == UInt8(ascii: "\r") ? UnsafeRawBufferPointer(rebasing: line.dropLast()) : line
  }
}
