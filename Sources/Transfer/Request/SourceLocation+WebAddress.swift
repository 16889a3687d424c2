extension SourceLocation {
  /// Continues a message about a text that is not a file's name, and looks like a web address without its scheme; empty for
  /// others.
  package static func webAddressHint(for text: String) -> String {
    Transfer.webAddressHint(for: Transfer.redacted(text, valid: false))
  }

  /// Continues a message about a path that looks like a web address without its scheme; empty for other paths.
  var webAddressHint: String { scheme == .file ? Transfer.webAddressHint(for: redacted) : "" }

  /// What is doubtful about a web URL that does not have two slashes after its scheme; nil for others.
  package static func slashHint(for text: String) -> String? {
    guard text.prefixMatch(of: /https?:(\/?[^\/]|\/\/\/)/.ignoresCase()) != nil else { return nil }
    return "a URL has two slashes before its host: \(text.prefix { $0 != ":" }.lowercased())://HOST/…"
  }

  /// Why a file is not read without `--file-root`.
  var fileNotAllowed: String { "\(redacted) is on this machine; files are only read with --file-root" + webAddressHint }

  /// The message when a server's list names the file.
  package var fileFromServer: String {
    "\(redacted) is a file, which a list from a server may not name" + webAddressHint
  }
}

/// Continues a message about a text that looks like a web address without its scheme, such as `www.example.com/x.jpg`,
/// `//example.com/x.jpg`, `example.com:8080/x.jpg` or `127.0.0.1/x.jpg`, or with a misspelt one, `https//example.com/x.jpg`;
/// or about one with something before its scheme, such as a quotation mark; empty for any other.
/// - Parameter text: Without secrets.
func webAddressHint(for text: String) -> String {
  if let scheme = text.firstMatch(of: /https?:\/\//.ignoresCase()) {
    let before = text[..<scheme.range.lowerBound]
    if !before.isEmpty, !before.contains(where: { "/?.".contains($0) }) {
      return "; a URL begins with \(scheme.output.lowercased()), not with \(before)"
    }
  }
  if let typed = text.prefixMatch(of: /(https?)\/\//.ignoresCase()) {
    return "; if it is on the web, write \(typed.1.lowercased())://\(text[typed.range.upperBound...])"
  }
  var rest = text[...]
  if rest.hasPrefix("//") { rest = rest.dropFirst(2) }
  let hasSlashes = rest.startIndex > text.startIndex
  let authority = rest.prefix { $0 != "/" }
  let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
  guard let host = parts.first, parts.count <= 2, authority.endIndex < rest.endIndex || host.hasPrefix("www.") else {
    return ""
  }
  let hasPort = parts.count == 2 && !parts[1].isEmpty && parts[1].utf8.allSatisfy { (48...57).contains($0) }
  guard parts.count == 1 || hasPort else { return "" }
  let labels = host.split(separator: ".", omittingEmptySubsequences: false)
  let isName =
    labels.count > 1 && labels.last?.allSatisfy(\.isLetter) == true && labels.last?.count ?? 0 > 1
    && labels.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" } }
  let isLocal = hasPort && host == "localhost" || IPAddress(host) != nil
  guard isName || isLocal || hasSlashes && !host.isEmpty else { return "" }
  return "; if it is on the web, write \(isLocal ? "http" : "https")://\(rest)"
}
