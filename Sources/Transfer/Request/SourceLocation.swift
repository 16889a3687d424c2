import CCurl

/// Where a source is: an http or https URL, or a file given by a `file:` URL or a path.
package struct SourceLocation: Sendable, Hashable {
  package enum Scheme: String, Sendable {
    case http, https, file
  }

  /// The scheme; `file` for paths, too.
  package let scheme: Scheme

  /// The host in lower case, IPv6 in brackets, numbers such as `127.1` as four octets. `nil` for files.
  package let host: String?

  /// The last component of the path, percent-decoded, without query; may be empty. For naming only: it may be `..`, and contain
  /// anything but a slash (text before an encoded slash is dropped).
  package let lastPathComponent: String

  /// The text as given, without userinfo: for reports and logs.
  package let redacted: String

  /// The URL to request, normalised, with userinfo and without fragment; for files the path, absolute or relative to the file
  /// root. May contain secrets.
  package let requestText: String

  /// The longest URL or path, in bytes: 64 KiB, several times what servers accept.
  package static let maxLength = 64 << 10

  /// Parses a URL or a path.
  /// - Throws: `url-invalid` for a text that is malformed, empty, too long or holds control characters;
  ///   `scheme-not-allowed` for a scheme other than http, https and file.
  package init(parsing text: String) throws(TransferError) {
    guard text.utf8.count <= Self.maxLength else {
      throw TransferError(.urlInvalid, "a URL may have \(Self.maxLength) bytes; this one has \(text.utf8.count)")
    }
    if let plain = PlainURL(text) {
      self.init(plain, text)
      return
    }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
      let shown = Transfer.redacted(Self.printable(text), valid: false)
      throw TransferError(.urlInvalid, "\(shown) holds control characters; encode them as %XX")
    }
    guard !text.isEmpty else { throw TransferError(.urlInvalid, "no URL is given") }
    guard let written = schemeText(of: text) else {
      self.init(path: text, redacted: isClearlyPath(text) ? text : Transfer.redacted(text, valid: false))
      return
    }
    switch Scheme(rawValue: written.lowercased()) {
    case .http: try self.init(web: text, scheme: .http)
    case .https: try self.init(web: text, scheme: .https)
    case .file: try self.init(fileURL: text)
    case nil:
      let shown = Transfer.redacted(text, valid: false)
      // The text in the position of a scheme may be the user of `user:password@host`.
      let what = shown.hasPrefix(written) ? "has the scheme \"\(written)\"" : "has no scheme"
      throw TransferError(
        .schemeNotAllowed,
        "\(shown) \(what); allowed are http, https and file (a path with a colon begins with ./)"
          + Transfer.webAddressHint(for: shown))
    }
  }

  private init(_ url: PlainURL, _ text: String) {
    (scheme, host, lastPathComponent) = (url.scheme, url.host, url.lastPathComponent)
    (redacted, requestText) = (text, text)
  }

  /// A URL as libcurl understands it.
  init(web text: String, scheme: Scheme) throws(TransferError) {
    let url: URLHandle
    do throws(URLHandle.Failure) {
      url = try URLHandle(parsing: text)
    } catch {
      let shown = Transfer.redacted(text, valid: false)
      throw TransferError(
        .urlInvalid, "\(shown) is not a URL: \(error.reason)" + (Self.slashHint(for: shown).map { "; " + $0 } ?? ""))
    }
    url.set(CURLUPART_FRAGMENT, nil)
    guard let request = url.part(CURLUPART_URL), let host = url.part(CURLUPART_HOST) else {
      throw TransferError(.urlInvalid, "\(Transfer.redacted(text, valid: false)) is not a URL: it names no host")
    }
    self.scheme = scheme
    self.host = host.lowercased()
    let path = url.part(CURLUPART_PATH) ?? "/"
    lastPathComponent = Self.lastComponent(of: Self.lastComponent(of: path).percentDecoded)
    redacted = Transfer.redacted(text, valid: true)
    requestText = request
  }

  /// RFC 8089: `file:/path`, `file:///path` or `file://localhost/path`; query and fragment are ignored.
  private init(fileURL text: String) throws(TransferError) {
    var rest = text.utf8.dropFirst("file:".utf8.count)
    if rest.starts(with: "//".utf8) {
      let authority = String(decoding: rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
      guard authority.isEmpty || authority.lowercased() == "localhost" else {
        throw TransferError(
          .urlInvalid,
          "\(Transfer.redacted(text, valid: false)) names a host; a file: URL may only name localhost or none")
      }
      rest = rest.dropFirst(2 + authority.utf8.count)
    }
    let raw = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let path = String(decoding: raw, as: UTF8.self).validPercentDecoded else {
      throw TransferError(
        .urlInvalid,
        "\(Transfer.redacted(text, valid: false)) names a file whose name is not UTF-8, which cannot be read; rename it"
      )
    }
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
      throw TransferError(
        .urlInvalid,
        "\(Transfer.redacted(text, valid: false)) is not a file: URL with an absolute, printable path; a path below "
          + "--file-root is written without file:, and with ./ if it begins with a space")
    }
    self.init(path: path, redacted: text)
  }

  private init(path: String, redacted: String) {
    scheme = .file
    host = nil
    // A name must not contain a secret either.
    lastPathComponent = Self.lastComponent(of: redacted.utf8.count < path.utf8.count ? redacted : path)
    self.redacted = redacted
    requestText = path
  }

  /// A URL, valid or not, without its userinfo: for reports and logs.
  package static func redacted(_ text: String) -> String {
    // Only what precedes an "@" can be userinfo.
    if !text.utf8.contains(UInt8(ascii: "@")), withPlainMarks(text) == nil { return text }
    return (try? SourceLocation(parsing: text))?.redacted ?? Transfer.redacted(text, valid: false)
  }

  private static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? "\u{fffd}" : $0 }))
  }

  private static func lastComponent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }
}
