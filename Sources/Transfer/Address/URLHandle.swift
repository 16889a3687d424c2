import CCurl

/// Owns a handle of libcurl's URL API (`curl_url`).
struct URLHandle: ~Copyable {
  private let handle: OpaquePointer
  private static let flags = UInt32(CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_NON_SUPPORT_SCHEME)

  /// The flags with which libcurl parses the URLs of proxies.
  static let proxyFlags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)

  /// Parses a URL of any scheme; spaces and bytes beyond ASCII are percent-encoded, dot segments resolved.
  /// - Parameter flags: Others than these.
  /// - Throws: libcurl's reason.
  init(parsing text: String, flags: UInt32 = flags) throws(Failure) {
    // Fails only when memory is exhausted, as any allocation of Swift.
    guard let handle = curl_url() else { fatalError("out of memory") }
    let code = curl_url_set(handle, CURLUPART_URL, text, flags)
    guard code == CURLUE_OK else {
      curl_url_cleanup(handle)
      throw Failure(code)
    }
    self.handle = handle
  }

  deinit { curl_url_cleanup(handle) }

  /// Resolves a reference, absolute or relative, against the URL, and replaces the URL by the result.
  /// - Throws: libcurl's reason; the URL does not change then.
  func resolve(_ reference: String) throws(Failure) {
    let code = curl_url_set(handle, CURLUPART_URL, reference, Self.flags)
    guard code == CURLUE_OK else { throw Failure(code) }
  }

  /// Scheme, host and port.
  var origin: [String?] {
    [part(CURLUPART_SCHEME), part(CURLUPART_HOST)?.lowercased(), part(CURLUPART_PORT, flags: CURLU_DEFAULT_PORT)]
  }

  /// A part as sent; `nil` when the URL has none.
  /// - Parameter flags: `CURLU_…`. Default: none.
  func part(_ part: CURLUPart, flags: Int32 = 0) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, UInt32(flags)) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// Whether libcurl can decode a part, in which there may be no control characters.
  func isReadable(_ part: CURLUPart) -> Bool {
    self.part(part) == nil || self.part(part, flags: Int32(CURLU_URLDECODE)) != nil
  }

  /// Sets a part that is already encoded, or removes it.
  func set(_ part: CURLUPart, _ text: String?) { curl_url_set(handle, part, text, 0) }

  /// A text that libcurl does not accept as a URL.
  struct Failure: Error {
    let reason: String

    init(_ code: CURLUcode) { reason = curl_url_strerror(code).map { String(cString: $0) } ?? "malformed" }
  }
}
