/// Names and messages without secrets. A name may be a URL: whoever writes a dictionary of a list may take the URLs as keys.
extension SourceLocation {
  /// A name, a key or a place without the userinfo of the URL that it is, holds, or was meant to be. A sentence with an `@` is no
  /// URL.
  package static func redacted(name: String) -> String {
    guard let at = name.utf8.lastIndex(of: UInt8(ascii: "@")) else { return name }
    let isSentence = !hasAuthority(name) && name.utf8[..<at].contains { $0 == UInt8(ascii: " ") }
    if isSentence { return name }
    // First as a whole, since a password may have a blank; then there may be another URL.
    return redacted(name).split(separator: " ", omittingEmptySubsequences: false)
      .map { hasAuthority(String($0)) ? redacted(String($0)) : String($0) }.joined(separator: " ")
  }

  /// A message without the userinfo of the URLs that it quotes, between `"`.
  package static func redacted(message: String) -> String {
    guard message.utf8.contains(UInt8(ascii: "@")) || message.contains("…") else { return message }
    let parts = message.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
    // A quote in what is quoted: where it ends is not known.
    guard parts.count % 2 == 1 else { return Transfer.redacted(message, valid: false) }
    return parts.enumerated().map { index, part in
      index % 2 == 1 ? redacted(name: withoutCutAuthority(part)) : redactedAuthority(part)
    }.joined(separator: "\"")
  }

  /// What stands outside of quotes, where a colon and an `@` mean nothing.
  private static func redactedAuthority(_ text: String) -> String {
    hasAuthority(text) ? redacted(name: text) : text
  }

  private static func hasAuthority(_ text: String) -> Bool { text.contains("//") || text.contains("\\\\") }

  /// A text that was cut short without the authority of its URL, if that was cut, or may be the beginning of userinfo.
  private static func withoutCutAuthority(_ text: String) -> String {
    guard text.hasSuffix("…"), let slashes = text.firstRange(of: "//") else { return text }
    let rest = text[slashes.upperBound...].dropLast()
    if rest.contains("@") { return text }
    let authority = rest.prefix { $0 != "/" }
    let isCut = authority.endIndex == rest.endIndex
    let port = authority.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
    guard isCut || port?.allSatisfy(\.isNumber) == false else { return text }
    return text[..<slashes.upperBound] + "…"
  }
}
