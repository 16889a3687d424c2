import System

/// A URL, valid or not, without its userinfo, for reports and logs. Also handles text that was meant to be one: a scheme
/// without its colon, backslashes, blanks. A path keeps its `@`, unless its context makes it look like userinfo.
///
/// The authority begins after the scheme's colon and any slashes (libcurl takes one to three). When the URL is not known
/// to be `valid`, everything up to the last `@` is removed: a password may hold unescaped delimiters. Bytes are compared,
/// not characters: a combining character after an `@` would form another character with it.
func redacted(_ url: String, valid: Bool) -> String {
  if !valid, let plain = withPlainMarks(url), authority(ofInvalid: plain) != nil {
    return redacted(plain, valid: false)
  }
  let bytes = url.utf8
  guard bytes.contains(UInt8(ascii: "@")) else { return url }
  let (start, end): (String.Index, String.Index)
  if valid, let scheme = schemeText(of: url) {
    let afterColon = bytes.index(bytes.startIndex, offsetBy: scheme.utf8.count + 1)
    start = bytes[afterColon...].firstIndex { $0 != UInt8(ascii: "/") } ?? bytes.endIndex
    let delimiters = Array("/?#".utf8)
    end = bytes[start...].firstIndex(where: delimiters.contains) ?? bytes.endIndex
  } else {
    guard let authority = authority(ofInvalid: url) else { return url }
    (start, end) = (authority.lowerBound, authority.upperBound)
  }
  guard let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) else { return url }
  return String(decoding: Array(bytes[..<start]) + Array(bytes[bytes.index(after: at)...]), as: UTF8.self)
}

/// A percent-encoded `@`, and a full-width one: they end no userinfo in a URL, but were meant to. Three bytes each.
private let encodedMarks = ["%40", "\u{ff20}"].map { Array($0.utf8) }

/// A text that begins as a web address does, with an `@` for each one that is percent-encoded or full-width; `nil` when there
/// is none.
func withPlainMarks(_ text: String) -> String? {
  guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == 0xef }),
    isWebScheme(text.prefix { $0.isASCII && $0.isLetter })
  else { return nil }
  var (bytes, hasMarks) = (Array(text.utf8)[...], false)
  var plain: [UInt8] = []
  while let byte = bytes.first {
    let isMark = encodedMarks.contains { bytes.starts(with: $0) }
    plain.append(isMark ? UInt8(ascii: "@") : byte)
    bytes = bytes.dropFirst(isMark ? 3 : 1)
    hasMarks = hasMarks || isMark
  }
  return hasMarks ? String(decoding: plain, as: UTF8.self) : nil
}

/// Whether a text without a scheme is a path, and not meant to be a URL: it begins with `./`, `../` or one slash.
func isClearlyPath(_ text: String) -> Bool {
  let bytes = text.utf8
  if bytes.starts(with: "./".utf8) || bytes.starts(with: "../".utf8) { return true }
  return bytes.first == UInt8(ascii: "/") && bytes.dropFirst().first.map { !"/\\ ".utf8.contains($0) } ?? true
}

/// The range with userinfo in a text that may have been meant to be a URL; up to its last `@` all is userinfo. `nil` when it
/// looks like a path.
private func authority(ofInvalid text: String) -> Range<String.Index>? {
  let bytes = text.utf8
  guard let last = bytes.lastIndex(of: UInt8(ascii: "@")) else { return nil }
  if let authority = authorityAfterSlashes(of: text, last: last) { return authority }
  // One slash, or none, after the name of a known scheme; an unknown one may be the user.
  let word = text.prefix { $0.isASCII && $0.isLetter }
  let hasColon = bytes[word.endIndex..<last].contains(UInt8(ascii: ":"))
  if isWebScheme(word) || hasColon && (isOtherScheme(word) || word.lowercased() == "file") {
    let marks = Array(":;./\\ ".utf8)
    let start = bytes[word.endIndex...].firstIndex { !marks.contains($0) } ?? bytes.endIndex
    if start > word.endIndex { return min(start, last)..<bytes.endIndex }
  }
  // A user without scheme contains no slash.
  let slash = bytes.firstIndex(where: isSlash) ?? bytes.endIndex
  if bytes[..<min(slash, last)].contains(UInt8(ascii: ":")) { return bytes.startIndex..<bytes.endIndex }
  guard let at = bytes[..<slash].lastIndex(of: UInt8(ascii: "@")) else { return nil }
  let isWebAddress = !webAddressHint(for: String(text[bytes.index(after: at)...])).isEmpty
  return isWebAddress ? bytes.startIndex..<slash : nil
}

/// The same for text after two slashes of any kind, including blanks between, before and after them.
private func authorityAfterSlashes(of text: String, last: String.Index) -> Range<String.Index>? {
  let bytes = text.utf8
  var begin = bytes.startIndex
  while begin < last {
    guard isSlash(bytes[begin]) else {
      begin = bytes.index(after: begin)
      continue
    }
    let end = bytes[begin..<last].firstIndex { !isSlash($0) && $0 != UInt8(ascii: " ") } ?? last
    if bytes[begin..<end].count(where: isSlash) >= 2 {
      let before = text[..<begin]
      if !before.utf8.contains(where: isSlash) {
        if isAuthority(after: before, user: text[end..<last]) { return end..<bytes.endIndex }
      } else if before.utf8.last == UInt8(ascii: ":") {
        // A URL in a path.
        let slash = bytes[end...].firstIndex(where: isSlash) ?? bytes.endIndex
        if bytes[end..<slash].contains(UInt8(ascii: "@")) { return end..<slash }
      }
    }
    begin = end
  }
  return nil
}

/// Whether two slashes begin an authority, and are not an extra slash in a path.
/// - Parameters:
///   - before: The text before them, which has no slash.
///   - user: The text that would be userinfo.
private func isAuthority(after before: Substring, user: Substring) -> Bool {
  let scheme = before.drop { $0 == " " }.reversed().drop { $0 == " " }
  guard let mark = scheme.first, mark != ":", mark != ";" else { return true }
  let word = String(String(scheme.prefix { $0.isASCII && $0.isLetter }).reversed())
  return isWebScheme(word) || isOtherScheme(word) || NearestName.misspelt(word, among: ["http", "https"]) != nil
    || user.utf8.contains(UInt8(ascii: ":"))
}

private func isWebScheme(_ word: some StringProtocol) -> Bool { ["http", "https"].contains(word.lowercased()) }

private func isOtherScheme(_ word: some StringProtocol) -> Bool { ["ftp", "ftps", "sftp"].contains(word.lowercased()) }

private func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

/// The scheme of a URL (RFC 3986: a letter, then letters, digits, `+`, `-`, `.`, up to a colon), as written. `nil` when
/// the text does not begin with one.
func schemeText(of url: String) -> Substring? {
  let bytes = url.utf8
  guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), let first = bytes.first else { return nil }
  let others = Array("0123456789+-.".utf8)
  guard isLetter(first), bytes[..<colon].allSatisfy({ isLetter($0) || others.contains($0) }) else { return nil }
  return url[..<colon]
}

private func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
