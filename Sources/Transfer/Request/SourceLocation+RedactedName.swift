/// Names and messages without secrets. A name may be a URL: the keys of a dictionary may be its URLs.
extension SourceLocation {
  /// A name, a key or a location without the userinfo of a URL that it is, contains, or was meant to be. A sentence with an `@`
  /// is not a URL.
  package static func redacted(name: String) -> String {
    guard let at = name.utf8.lastIndex(of: UInt8(ascii: "@")) else { return name }
    let isSentence = !hasAuthority(name) && name.utf8[..<at].contains { $0 == UInt8(ascii: " ") }
    if isSentence { return name }
    // First as a whole, since a password may contain a blank; then for further URLs.
    return redacted(name).split(separator: " ", omittingEmptySubsequences: false)
      .map { hasAuthority(String($0)) ? redacted(String($0)) : String($0) }.joined(separator: " ")
  }

  /// A message without the userinfo of the URLs that it quotes, between `"`.
  package static func redacted(message: String) -> String {
    guard message.utf8.contains(UInt8(ascii: "@")) || message.contains("…") else { return message }
    let parts = message.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
    // There is a quote in the quoted text: its end is unknown.
    guard parts.count % 2 == 1 else { return Transfer.redacted(message, valid: false) }
    return parts.enumerated().map { index, part in
      index % 2 == 1 ? redacted(name: withoutCutAuthority(part)) : redactedAuthority(part)
    }.joined(separator: "\"")
  }

  /// The text outside of quotes, where a colon and an `@` have no meaning.
  private static func redactedAuthority(_ text: String) -> String { hasAuthority(text) ? redacted(name: text) : text }

  private static func hasAuthority(_ text: String) -> Bool { text.contains("//") || text.contains("\\\\") }

  /// A shortened text without the authority of its URL, if that was cut, or may be the beginning of userinfo.
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
