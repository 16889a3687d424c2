import CCurl

/// Owns header fields for libcurl, which keeps the pointer while it uses them.
final class HeaderList {
  private(set) var raw: UnsafeMutablePointer<curl_slist>?

  /// - Parameter fields: Whole lines, such as `Accept: image/png`, without line breaks.
  init(_ fields: [String]) {
    for field in fields { raw = curl_slist_append(raw, field) ?? raw }
  }

  deinit { curl_slist_free_all(raw) }
}
