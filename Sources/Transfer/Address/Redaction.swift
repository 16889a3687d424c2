/// A URL, valid or not, without its userinfo, for reports and logs. So is what was meant to be one: a scheme without its
/// colon, backslashes, blanks. A path keeps its `@`, unless something before it makes it look like userinfo.
///
/// The authority begins after the scheme's colon and any slashes (libcurl takes one to three). When the URL is not known
/// to be `valid`, everything up to the last `@` is removed: a password may hold unescaped delimiters. Bytes are compared,
/// not characters: a combining character after an `@` would form another character with it.
func redacted(_ url: String, valid: Bool) -> String {
  let bytes = url.utf8
  guard bytes.contains(UInt8(ascii: "@")) else { return url }
  let (start, end): (String.Index, String.Index)
  if valid, let scheme = schemeText(of: url) {
    let afterColon = bytes.index(bytes.startIndex, offsetBy: scheme.utf8.count + 1)
    start = bytes[afterColon...].firstIndex { $0 != UInt8(ascii: "/") } ?? bytes.endIndex
    let delimiters = Array("/?#".utf8)
    end = bytes[start...].firstIndex(where: delimiters.contains) ?? bytes.endIndex
  } else {
    guard let begins = authorityStart(ofInvalid: url) else { return url }
    (start, end) = (begins, bytes.endIndex)
  }
  guard let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return url }
  return String(decoding: Array(bytes[..<start]) + Array(bytes[bytes.index(after: at)...]), as: UTF8.self)
}

/// Where the authority of a text begins that may have been meant to be a URL with userinfo; the text has an `@`. `nil` when
/// it looks like a path.
private func authorityStart(ofInvalid text: String) -> String.Index? {
  let bytes = text.utf8
  guard let last = bytes.lastIndex(of: UInt8(ascii: "@")) else { return nil }
  let (colon, slashes) = (UInt8(ascii: ":"), Array("/\\".utf8))
  // Two slashes of any kind, blanks between them and before and after them included.
  var run = 0
  var index = bytes.startIndex
  while index < last {
    let byte = bytes[index]
    if slashes.contains(byte) {
      run += 1
    } else if byte != UInt8(ascii: " ") || run == 0 {
      if run >= 2 { return index }
      run = 0
    }
    index = bytes.index(after: index)
  }
  if run >= 2 { return index }
  // One, or none, after the name of a scheme that is known; what another scheme would be may be the user.
  let word = text.prefix { $0.isASCII && $0.isLetter }
  if ["http", "https", "ftp", "ftps", "sftp", "file"].contains(word.lowercased()) {
    let marks = Array(":;./\\ ".utf8)
    let start = bytes[word.endIndex...].firstIndex { !marks.contains($0) } ?? bytes.endIndex
    if start > word.endIndex { return min(start, last) }
  }
  return bytes[..<last].contains(colon) ? bytes.startIndex : nil
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
