import CCurl

extension SourceLocation {
  /// The location of a redirect's target. Credentials of the URL are kept while scheme, host and port stay the same.
  /// - Parameter target: The value of `Location`: a URL, or a reference relative to this one (RFC 3986, section 5).
  /// - Throws: `scheme-not-allowed` and `url-invalid`, with a message that continues after "redirects to".
  func redirected(to target: String) throws(TransferError) -> SourceLocation {
    let shown = Transfer.redacted(target, valid: false)
    if let scheme = schemeText(of: target).map({ Scheme(rawValue: $0.lowercased()) }), scheme != .http, scheme != .https
    {
      throw TransferError(.schemeNotAllowed, "\(shown); allowed are http and https")
    }
    let text: String
    do throws(URLHandle.Failure) {
      text = try Self.resolved(target, from: requestText)
    } catch {
      throw TransferError(.urlInvalid, "\(shown), which is not a URL: \(error.reason)")
    }
    guard text.utf8.count <= Self.maxLength else {
      throw TransferError(.urlInvalid, "a URL of \(text.utf8.count) bytes; it may have \(Self.maxLength)")
    }
    return try SourceLocation(parsing: text)
  }

  /// Scheme, host and port; `nil` for files.
  var origin: [String?]? { scheme == .file ? nil : (try? URLHandle(parsing: requestText))?.origin }

  /// The identity of a name that stands for URLs of this location's scheme, user, password, host and port; for files, of all
  /// files. Contains these secrets.
  package func scope(of name: String) -> String {
    guard scheme != .file, let url = try? URLHandle(parsing: requestText) else { return "key  \(name)" }
    let origin = url.origin.map { $0 ?? "" }.joined(separator: ":")
    let credentials = [url.part(CURLUPART_USER), url.part(CURLUPART_PASSWORD)].map { $0 ?? "" }
    // A user name has no ":". An origin has no "@".
    return "key \(credentials == ["", ""] ? "" : credentials.joined(separator: ":") + "@")\(origin) \(name)"
  }

  private static func resolved(_ target: String, from base: String) throws(URLHandle.Failure) -> String {
    let url = try URLHandle(parsing: base)
    let (origin, user, password) = (url.origin, url.part(CURLUPART_USER), url.part(CURLUPART_PASSWORD))
    try url.resolve(target)
    if url.origin == origin, url.part(CURLUPART_USER) == nil {
      url.set(CURLUPART_USER, user)
      url.set(CURLUPART_PASSWORD, password)
    }
    return url.part(CURLUPART_URL) ?? ""
  }
}
