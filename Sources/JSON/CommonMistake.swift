/// A common mistake in a JSON text, which other notations allow: its message says more than that of jansson, and it is found where
/// it was made, while jansson stops at the end of the next token.
struct CommonMistake: Equatable {
  let message: String

  /// The place in the text, in bytes.
  let offset: Int

  /// - Parameters:
  ///   - text: The text up to the end of the token that jansson did not expect.
  ///   - isInArray: Whether an array is known to be open.
  /// - Returns: nil for other mistakes.
  init?(_ text: Slice<UnsafeRawBufferPointer>, isInArray: Bool) {
    if let quote = ["“", "”", "„", "‘", "’", "'"].first(where: text.ends) {
      let start = text.endIndex - quote.utf8.count
      // Otherwise it is in a string.
      guard text[..<start].lastByte.map("{[:,".utf8.contains) != false else { return nil }
      (message, offset) = ("strings have straight double quotes in JSON, not \(quote)", start)
      return
    }
    guard let start = text.startOfLastToken else { return nil }
    let (token, before) = (text[start], text[..<start].lastByte)
    switch (before, token) {
    case (UInt8(ascii: ",")?, UInt8(ascii: "]")), (UInt8(ascii: ",")?, UInt8(ascii: "}")):
      (message, offset) = ("JSON has no comma before \(Character(Unicode.Scalar(token))); remove it", start)
    case (UInt8(ascii: "\"")?, UInt8(ascii: ":")) where isInArray:
      let key = text[..<text[..<start].endOfLastToken].startOfLastToken
      (message, offset) = (Self.keyInArray, key ?? start)
    case (let before?, UInt8(ascii: "\"")) where before.endsValue && isInArray && text.isBeforeColon:
      (message, offset) = (Self.keyInArray, start)
    // Without white space it is a quotation mark within a text; a sign alone is an expression.
    case (let before?, _)
    where before.endsValue && text[start - 1].isSpace
      && (token.isLetter || token.isDigit || "\"{[".utf8.contains(token)):
      (message, offset) = ("a comma is missing here", text[..<start].endOfLastToken)
    case (let before, UInt8(ascii: "#")) where before != UInt8(ascii: ":") && text[..<start].endsWithSpace,
      (let before, UInt8(ascii: "/")) where before != UInt8(ascii: ":") && text.beginsComment(at: start):
      (message, offset) = ("JSON has no comments; remove this one", start)
    case (_, _)
    where token.isLetter && before.map("{[:,".utf8.contains) != false
      && !["true", "false", "null"].contains(where: { text[start...].elementsEqual($0.utf8) }):
      message = "text has double quotes in JSON; without them there are only numbers, true, false and null"
      offset = start
    default: return nil
    }
  }

  private static let keyInArray = "an array has no keys; a bracket before this one is missing or wrong"

  /// The line and the column of the mistake.
  /// - Parameter line: The line of the text's beginning in its file, from 1.
  func location(in text: UnsafeRawBufferPointer, line: Int) -> JSONError.Location {
    let before = text[..<offset]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return .line(
      line + before.count { $0 == UInt8(ascii: "\n") },
      column: String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1)
  }
}

extension Slice<UnsafeRawBufferPointer> {
  fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }

  /// Where the last token ends: the text without white space at its end.
  fileprivate var endOfLastToken: Int { lastIndex { !$0.isSpace }.map { $0 + 1 } ?? startIndex }

  /// Whether a colon follows the text.
  fileprivate var isBeforeColon: Bool { base[endIndex...].first { !$0.isSpace } == UInt8(ascii: ":") }

  /// Whether white space ends it, or it is empty.
  fileprivate var endsWithSpace: Bool { last?.isSpace != false }

  /// Whether a comment of JavaScript begins at a slash.
  fileprivate func beginsComment(at start: Int) -> Bool {
    base[(start + 1)...].first.map("/*".utf8.contains) == true
  }

  /// The last byte that is not white space.
  fileprivate var lastByte: UInt8? { self[..<endOfLastToken].last }

  /// Where the last token begins, with which the text ends; nil when there is none.
  fileprivate var startOfLastToken: Int? {
    guard let last else { return nil }
    if last.isWord { return self[..<endIndex].lastIndex { !$0.isWord }.map { $0 + 1 } ?? startIndex }
    guard last == UInt8(ascii: "\"") else { return endIndex - 1 }
    var start = endIndex - 1
    while let quote = self[..<start].lastIndex(of: UInt8(ascii: "\"")) {
      start = quote
      // A quotation mark after an odd number of backslashes is in the string.
      let backslashes = self[..<quote].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
      if backslashes.isMultiple(of: 2) { return quote }
    }
    return nil
  }
}

extension UInt8 {
  fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  /// Whether numbers, `true`, `false`, `null` and text without quotation marks consist of it.
  fileprivate var isWord: Bool {
    isLetter || isDigit || "+-._".utf8.contains(self)
  }

  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  fileprivate var isSpace: Bool { " \t\r\n".utf8.contains(self) }

  fileprivate var endsValue: Bool { isLetter || isDigit || "\"}]".utf8.contains(self) }
}
