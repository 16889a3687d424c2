import Foundation
import System

/// A manifest's private snapshot, read in pieces, in lines or whole; gzip is unpacked.
package struct ManifestFile {
  /// The largest unpacked file of a format that must be read whole, in bytes.
  package static let wholeLimit = 64 << 20

  /// The longest line, in bytes.
  package static let lineLimit = 1 << 20

  package let path: String
  package let isCompressed: Bool

  /// Whether reading throws an `OtherKind` when the file evidently is one. Default: false.
  var throwsOtherKind = false

  package init(path: String, isCompressed: Bool) { (self.path, self.isCompressed) = (path, isCompressed) }

  /// The most values of a `.json` or `.plist`, those in others included: such a file takes up to 1 GiB of memory.
  package static let valueLimit = 4_000_000

  static let tooManyValues = ManifestProblem(
    .tooLarge, "the limit for this format is \(valueLimit) values; the file has more. Use .jsonl, .csv or .txt",
    at: .file)

  /// A file whose name shows whether it is gzip.
  package init(path: String) { self.init(path: path, isCompressed: Self.isCompressed(path)) }

  /// Whether a name or an extension is that of a gzip file.
  package static func isCompressed(_ name: some StringProtocol) -> Bool {
    let name = name.lowercased()
    return name == "gz" || name.ends(with: ".gz")
  }

  /// All bytes, without a UTF-8 byte-order mark.
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

  /// Calls `body` with each line, without its line feed or CR LF, and its number from 1. For a line beyond the limit, the line
  /// is nil, and reading continues.
  /// - Throws: As `eachChunk`.
  func eachLine(_ body: (UnsafeRawBufferPointer?, Int) throws -> Void) throws {
    var lines = ManifestLines(limit: Self.lineLimit)
    try eachChunk { try lines.push($0, body) }
    try lines.finish(body)
  }

  /// The same for a text list, as UTF-8: a file that is Windows-1252 as a whole is converted.
  /// - Returns: A warning when it is in Windows-1252.
  func eachTextLine(_ body: (UnsafeRawBufferPointer?, Int) throws -> Void) throws -> ManifestWarning? {
    var lines = ManifestLines(limit: Self.lineLimit)
    let warning = try eachTextChunk(mayBeUTF16: false) { try lines.push($0, body) }
    try lines.finish(body)
    return warning
  }

  /// The problem of a line beyond the limit.
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
      guard mark ?? .utf8 == .utf8 else { throw Self.notUTF8(mark) }
      try body(UnsafeRawBufferPointer(rebasing: chunk.dropFirst(mark?.length ?? 0)))
    }
  }

  /// The same for a table or a text list, as UTF-8: a file that is Windows-1252 as a whole is converted, and so is UTF-16 with a
  /// byte-order mark, where it is allowed.
  /// - Returns: A warning when it is in Windows-1252.
  /// - Throws: As `eachChunk`.
  func eachTextChunk(
    mayBeUTF16: Bool, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> ManifestWarning? {
    var isFirst = true
    var transcoder: UTF16Transcoder?
    // Only matters from the first byte beyond ASCII on.
    var (isUTF8, warning) = (false, ManifestWarning?.none)
    try eachRawChunk { chunk in
      let mark = isFirst ? ByteOrderMark(of: chunk) : nil
      if let mark {
        isUTF8 = true
        guard mark == .utf8 || mayBeUTF16 && mark.isUTF16 else { throw Self.notUTF8(mark) }
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

  private static func notUTF8(_ mark: ByteOrderMark?) -> ManifestProblem {
    let message =
      mark?.isUTF16 == false
      ? "the file is UTF-32; it must be UTF-8"
      : "the file is UTF-16; in this format it must be UTF-8. Only .csv and .tsv may be UTF-16"
    return ManifestProblem(.encoding, message, at: .file)
  }

  /// Calls `body` with the unpacked content of the file. All pieces but the last have 256 KiB.
  /// - Throws: `OtherKind` if `throwsOtherKind`.
  func eachRawChunk(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let file = try OpenFile(reading: path)
    var isFirst = throwsOtherKind
    func pass(_ chunk: UnsafeRawBufferPointer) throws {
      if isFirst, let kind = OtherKind(start: chunk) { throw kind }
      isFirst = false
      try body(chunk)
    }
    guard isCompressed else { return try file.eachChunk(pass) }
    let gzip = GzipReader()
    try file.eachChunk { try gzip.unpack($0, pass) }
    try gzip.finish(pass)
  }
}

/// The mark at the beginning of a text that identifies its encoding.
enum ByteOrderMark: CaseIterable {
  // A mark comes before those that it begins with.
  case utf8, utf32LittleEndian, utf32BigEndian, utf16LittleEndian, utf16BigEndian

  private var bytes: [UInt8] {
    switch self {
    case .utf8: [0xef, 0xbb, 0xbf]
    case .utf32LittleEndian: [0xff, 0xfe, 0, 0]
    case .utf32BigEndian: [0, 0, 0xfe, 0xff]
    case .utf16LittleEndian: [0xff, 0xfe]
    case .utf16BigEndian: [0xfe, 0xff]
    }
  }

  var isUTF16: Bool { self == .utf16LittleEndian || self == .utf16BigEndian }

  /// In bytes.
  var length: Int { bytes.count }

  /// - Returns: nil when the text begins with none.
  init?(of text: UnsafeRawBufferPointer) {
    guard let mark = Self.allCases.first(where: { text.starts(with: $0.bytes) }) else { return nil }
    self = mark
  }
}
