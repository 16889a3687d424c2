import CCurl

extension EasyHandle {
  /// Sets the options that are the same for every request of an engine.
  /// Not enabled, as is libcurl's default: cookies, `Accept-Encoding` and decoding, alternative services.
  /// - Returns: The folder of certificates to trust besides the bundle, which libcurl does not know; `nil`: none.
  func configure(_ configuration: TransferConfiguration) -> String? {
    set(CURLOPT_USERAGENT, configuration.userAgent)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)  // HTTPTransfer does, so that each hop is checked and waits for a slot
    set(CURLOPT_NOPROXY, "")  // ProxyRules decides, not the environment
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    set(CURLOPT_LOW_SPEED_TIME, (configuration.lowSpeedPeriod.wholeMilliseconds + 999) / 1000)
    set(CURLOPT_QUICK_EXIT, 1)  // a cancelled transfer does not wait for its resolver
    set(CURLOPT_BUFFERSIZE, 64 << 10)
    set(CURLOPT_SSL_SESSIONID_CACHE, 0)  // TLSContext keeps the sessions
    return setTrust(configuration)
  }

  /// Sets the header fields of the next request, besides libcurl's own.
  /// - Parameter lines: Such as `Accept: image/png`, without line breaks.
  /// - Returns: libcurl's list of them, which must live as long as the request runs.
  func setHeaders(_ lines: [String]) -> HeaderList {
    let list = HeaderList(lines)
    set(CURLOPT_HTTPHEADER, UnsafeMutableRawPointer(list.raw))
    return list
  }

  /// Sets the addresses of the next request's host; libcurl tries them like those that it has resolved.
  /// - Returns: libcurl's list, which must live as long as the request runs.
  func setAddresses(_ addresses: [IPAddress], of name: String, port: String) -> HeaderList {
    let texts = addresses.map { $0.bitWidth == 128 ? "[\($0)]" : $0.description }
    // With "+" they are forgotten after a minute; they are set for each request. Not sooner, although libcurl visits all that it
    // remembers at the end of each transfer: a request may connect a second time, after its server has been silent for a while.
    let list = HeaderList(["+\(name):\(port):" + texts.joined(separator: ",")])
    set(CURLOPT_RESOLVE, UnsafeMutableRawPointer(list.raw))
    return list
  }

  /// Reads user name and password from a file that names the host, unless the URL has them.
  /// - Parameter file: `nil`: no file.
  func setNetrc(_ file: String?) {
    set(CURLOPT_NETRC, Int(file == nil ? CURL_NETRC_IGNORED.rawValue : CURL_NETRC_OPTIONAL.rawValue))
    if let file { set(CURLOPT_NETRC_FILE, file) }
  }

  /// Sets method and content of the next request, in place of those of the last.
  /// - Parameter transfer: That of the request, with the files of its form.
  /// - Returns: The form, which must live as long as the request runs; `nil` when it sends none.
  func setContent(of request: SourceRequest, _ transfer: QueuedTransfer) -> MIMEForm? {
    set(CURLOPT_CUSTOMREQUEST, nil)
    set(CURLOPT_HTTPGET, 1)
    var form: MIMEForm?
    switch request.content {
    case .form(let parts):
      let made = MIMEForm(parts, of: transfer, for: self)
      set(CURLOPT_MIMEPOST, UnsafeMutableRawPointer(made.raw))
      form = made
    case .body(let text): setBody(text)
    case nil: if request.method != .get { setBody("") }
    }
    if request.method != .get, request.method != .post { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    return form
  }

  /// Sets the content of a POST.
  func setBody(_ text: String) {
    set(CURLOPT_POSTFIELDSIZE, text.utf8.count)
    text.withCString { set(CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0)) }
  }

  /// Returns the folder to trust besides the bundle: the requested one; without a bundle, libcurl's own.
  private func setTrust(_ configuration: TransferConfiguration) -> String? {
    for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] { set(option, 1) }
    for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] { set(option, 2) }
    if let file = configuration.certificateFile {
      for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { set(option, file) }
    }
    let own = string(CURLINFO_CAINFO) == nil ? string(CURLINFO_CAPATH) : nil
    // With a folder libcurl would parse the bundle for each connection; TLSContext adds the folder.
    for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { set(option, nil) }
    return configuration.certificateFolder ?? own
  }
}

/// Owns a list of libcurl (`curl_slist`).
final class HeaderList {
  fileprivate private(set) var raw: UnsafeMutablePointer<curl_slist>?

  fileprivate init(_ lines: [String]) {
    for line in lines { raw = curl_slist_append(raw, line) ?? raw }
  }

  deinit { curl_slist_free_all(raw) }
}

extension Duration {
  /// The duration in milliseconds, at least 1: 0 means "no limit" to libcurl.
  var wholeMilliseconds: Int {
    max(1, Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000))
  }
}
