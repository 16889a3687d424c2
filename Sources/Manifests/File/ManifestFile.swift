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
    var lines = ManifestLines(limit: Self.lineLimit)
    try eachChunk { try lines.push($0, body) }
    try lines.finish(body)
  }

  /// The same for a text list, as UTF-8: what is in Windows-1252 as a whole is converted.
  /// - Returns: A warning when it is in Windows-1252.
  func eachTextLine(_ body: (UnsafeRawBufferPointer?, Int) throws -> Void) throws -> ManifestWarning? {
    var lines = ManifestLines(limit: Self.lineLimit)
    let warning = try eachTextChunk(mayBeUTF16: false) { try lines.push($0, body) }
    try lines.finish(body)
    return warning
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

  /// The same for a table or a text list, as UTF-8: what is in Windows-1252 as a whole is converted, and UTF-16 with a
  /// byte-order mark where it may be.
  /// - Returns: A warning when it is in Windows-1252.
  /// - Throws: As `eachChunk`.
  func eachTextChunk(
    mayBeUTF16: Bool, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> ManifestWarning? {
    var isFirst = true
    var transcoder: UTF16Transcoder?
    // Until the first byte beyond ASCII it does not matter.
    var (isUTF8, warning) = (false, ManifestWarning?.none)
    try eachRawChunk { chunk in
      let mark = isFirst ? ByteOrderMark(of: chunk) : nil
      if let mark {
        isUTF8 = true
        guard mayBeUTF16 || mark == .utf8 else { throw Self.noUTF16 }
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
}

/// The mark at the beginning of a text that tells its encoding.
enum ByteOrderMark: CaseIterable {
  case utf8, utf16LittleEndian, utf16BigEndian

  private var bytes: [UInt8] {
    switch self {
    case .utf8: [0xef, 0xbb, 0xbf]
    case .utf16LittleEndian: [0xff, 0xfe]
    case .utf16BigEndian: [0xfe, 0xff]
    }
  }

  /// In bytes.
  var length: Int { bytes.count }

  /// - Returns: nil when the text begins with none.
  init?(of text: UnsafeRawBufferPointer) {
    guard let mark = Self.allCases.first(where: { text.starts(with: $0.bytes) }) else { return nil }
    self = mark
  }
}
