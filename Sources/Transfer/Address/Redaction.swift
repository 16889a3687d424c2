/// A URL, valid or not, without its userinfo, for reports and logs. Text without a scheme is returned as it is.
///
/// The authority begins after the scheme's colon and any slashes (libcurl takes one to three). When the URL is not known
/// to be `valid`, everything up to the last `@` is removed: a password may hold unescaped delimiters. Bytes are compared,
/// not characters: a combining character after an `@` would form another character with it.
func redacted(_ url: String, valid: Bool) -> String {
  let bytes = url.utf8
  guard let scheme = schemeText(of: url), bytes.contains(UInt8(ascii: "@")) else { return url }
  let afterColon = bytes.index(bytes.startIndex, offsetBy: scheme.utf8.count + 1)
  let start = bytes[afterColon...].firstIndex { $0 != UInt8(ascii: "/") } ?? bytes.endIndex
  let delimiters = Array("/?#".utf8)
  let end = valid ? bytes[start...].firstIndex(where: delimiters.contains) ?? bytes.endIndex : bytes.endIndex
  guard let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return url }
  return String(decoding: Array(bytes[..<start]) + Array(bytes[bytes.index(after: at)...]), as: UTF8.self)
}

/// The scheme of a URL (RFC 3986: a letter, then letters, digits, `+`, `-`, `.`, up to a colon), as written. `nil` when
/// the text does not begin with one.
func schemeText(of url: String) -> Substring? {
  let bytes = url.utf8
  guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first else { return nil }
  let others = Array("0123456789+-.".utf8)
  guard isLetter(first), bytes[..<colon].allSatisfy({ isLetter($0) || others.contains($0) }) else { return nil }
  return url[..<colon]
}

private func isLetter(_ byte: UInt8) -> Bool {
  (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
}
