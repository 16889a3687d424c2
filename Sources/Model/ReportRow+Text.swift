import Glibc
import System

extension ReportRow {
  /// The SHA-256 of the source of a row with a result. It is searched for in the text, since parsing the JSON takes ten
  /// times as long.
  /// - Parameter text: A row as `json` formats it. Quotes in strings are escaped, so they cannot be mistaken for
  ///   delimiters, and the metadata come last.
  /// - Returns: nil for a row without a result.
  package static func sourceSHA256(ofFiltered text: String) -> String? {
    text.withCString { start in
      guard let state = value(of: #""state":""#, in: start), strncmp(state, #"filtered""#, 9) == 0,
        let source = value(of: #""source":{"#, in: state), let digest = value(of: #""sha256":""#, in: source),
        strnlen(digest, 64) == 64
      else { return nil }
      return String(decoding: UnsafeRawBufferPointer(start: digest, count: 64), as: UTF8.self)
    }
  }

  /// Whether a row has failed, found as in `sourceSHA256`.
  package static func isFailed(_ text: UnsafePointer<CChar>) -> Bool {
    value(of: #""state":""#, in: text).map { strncmp($0, #"failed""#, 7) == 0 } ?? false
  }

  /// Whether a row was cancelled, found as in `sourceSHA256`.
  package static func isCancelled(_ text: UnsafePointer<CChar>) -> Bool {
    value(of: #""state":""#, in: text).map { strncmp($0, #"cancelled""#, 10) == 0 } ?? false
  }

  /// The kind of a failed row's failure, found as in `sourceSHA256`.
  /// - Returns: nil for a row without a failure.
  package static func failureKind(_ text: UnsafePointer<CChar>) -> FailureKind? {
    guard let error = value(of: #""error":{"#, in: text), let code = value(of: #""code":""#, in: error),
      let end = strchr(code, 0x22), let retryable = value(of: #""retryable":"#, in: error)
    else { return nil }
    let bytes = UnsafeRawBufferPointer(start: code, count: UnsafePointer(end) - code)
    // Mirrors, which come later, have statuses as well.
    let status = value(of: #""http_status":"#, in: error).flatMap { $0 < retryable ? strtol($0, nil, 10) : nil }
    return FailureKind(code: String(decoding: bytes, as: UTF8.self), httpStatus: status)
  }

  /// The number of a row's line in its manifest, found as in `sourceSHA256`.
  /// - Returns: nil for a text that is not a row.
  package static func index(_ text: UnsafePointer<CChar>) -> Int? {
    let key = #"{"index":"#
    guard strncmp(text, key, key.utf8.count) == 0 else { return nil }
    var end: UnsafeMutablePointer<CChar>?
    let start = text + key.utf8.count
    let index = strtol(start, &end, 10)
    return end.map { UnsafePointer($0) > start && $0.pointee == 0x2c && index >= 0 } == true ? index : nil
  }

  /// The path of the original that a row has kept, as it is in the JSON, found as in `sourceSHA256`.
  /// - Returns: nil when it has kept none.
  package static func original(_ text: UnsafePointer<CChar>) -> UnsafeBufferPointer<UInt8>? {
    guard let file = value(of: #""source":{"file":""#, in: text), let next = strstr(text, #""filters":"#),
      file < UnsafePointer(next)
    else { return nil }
    // A path contains no quotes, since names have them replaced.
    guard let end = strchr(file, 0x22) else { return nil }
    let bytes = UnsafeRawPointer(file).assumingMemoryBound(to: UInt8.self)
    return UnsafeBufferPointer(start: bytes, count: UnsafePointer(end) - file)
  }

  /// Whether the source of a row with a result is another than that of the existing one, found as in `sourceSHA256`.
  /// - Returns: nil when there was no result.
  package static func isSourceChanged(_ text: UnsafePointer<CChar>) -> Bool? {
    guard let source = value(of: #""source":{"#, in: text), let changed = value(of: #""changed":"#, in: source),
      let end = strstr(source, #""filters":"#), changed < UnsafePointer(end)
    else { return nil }
    return strncmp(changed, "true", 4) == 0
  }

  /// Whether a row's result was reused, found as in `sourceSHA256`.
  package static func isReused(_ text: UnsafePointer<CChar>) -> Bool { hasMark(#""reused":true"#, in: text) }

  /// Whether a row's source was downloaded for another entry, or came from the cache, found as in `sourceSHA256`.
  package static func isCoalesced(_ text: UnsafePointer<CChar>) -> Bool { hasMark(#""coalesced":true"#, in: text) }

  private static func hasMark(_ mark: String, in text: UnsafePointer<CChar>) -> Bool {
    guard let found = value(of: mark, in: text), let end = strstr(text, #""priority":"#) else { return false }
    return found < UnsafePointer(end)
  }

  /// A row's URL, as it is in the JSON, found as in `sourceSHA256`.
  package static func url(_ text: UnsafePointer<CChar>) -> String? {
    guard let url = value(of: #""url":""#, in: text), let end = strstr(url, #"",""#) else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: url, count: UnsafePointer(end) - url), as: UTF8.self)
  }

  /// The path of a row's result, as it is in the JSON, found as in `sourceSHA256`.
  /// - Returns: nil for a row without a file, unless its metadata resemble one.
  package static func outputFile(_ text: UnsafePointer<CChar>) -> String? {
    guard let file = value(of: #""output":{"file":""#, in: text), let end = strchr(file, 0x22) else { return nil }
    let bytes = UnsafeRawBufferPointer(start: file, count: UnsafePointer(end) - file)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func value(of key: String, in text: UnsafePointer<CChar>) -> UnsafePointer<CChar>? {
    strstr(text, key).map { UnsafePointer($0) + key.utf8.count }
  }

  /// Calls `body` with each readable row of a report or of a log of rows.
  /// - Throws: Errors of `body`; `SystemError` when reading fails. A file that is not regular has no rows.
  package static func each(of file: OpenFile, _ body: (ReportRow) throws -> Void) throws {
    try eachLine(of: file) { text in
      if let row = try? ReportRow(parsing: text) { try body(row) }
    }
  }

  /// Calls `body` with the text of each row of a report or of a log of rows. Each line contains one row.
  /// - Throws: As `each`.
  package static func eachLine(of file: OpenFile, _ body: (String) throws -> Void) throws {
    guard (try? file.status())?.kind == .file else { return }
    var rest: [UInt8] = []
    func read(_ line: ArraySlice<UInt8>) throws {
      let text = String(decoding: line.last == UInt8(ascii: ",") ? line.dropLast() : line, as: UTF8.self)
      if text.hasPrefix("{\"") { try body(text) }
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
