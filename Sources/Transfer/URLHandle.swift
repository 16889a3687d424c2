import CCurl

/// Owns a handle of libcurl's URL API (`curl_url`).
struct URLHandle: ~Copyable {
  private let handle: OpaquePointer

  /// Parses a URL of any scheme; spaces and bytes beyond ASCII are percent-encoded, dot segments resolved.
  /// - Throws: libcurl's reason.
  init(parsing text: String) throws(Failure) {
    // Memory is exhausted: nothing could be done without any.
    guard let handle = curl_url() else { fatalError("out of memory") }
    let flags = CURLU_URLENCODE | CURLU_ALLOW_SPACE | CURLU_NON_SUPPORT_SCHEME
    let code = curl_url_set(handle, CURLUPART_URL, text, UInt32(flags))
    guard code == CURLUE_OK else {
      curl_url_cleanup(handle)
      throw Failure(reason: curl_url_strerror(code).map { String(cString: $0) } ?? "malformed")
    }
    self.handle = handle
  }

  deinit { curl_url_cleanup(handle) }

  /// A part as it will be sent; `nil` when the URL has none.
  func part(_ part: CURLUPart) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// Removes a part.
  func remove(_ part: CURLUPart) { curl_url_set(handle, part, nil, 0) }

  /// A text that libcurl does not take for a URL.
  struct Failure: Error {
    let reason: String
  }
}
