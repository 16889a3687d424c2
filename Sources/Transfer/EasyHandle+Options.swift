import CCurl

extension EasyHandle {
  /// Sets what is the same for every request of an engine.
  ///
  /// Off by default in libcurl, and left so: cookies, `.netrc`, `Accept-Encoding` and decoding of what was not asked for,
  /// alternative services.
  func configure(_ configuration: TransferConfiguration) {
    set(CURLOPT_USERAGENT, configuration.userAgent)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)  // HTTPTransfer follows, so that each hop is checked and waits for its turn
    set(CURLOPT_NOPROXY, "")  // ProxyRules has decided, whatever the environment says
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_HTTP09_ALLOWED, 0)
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.wholeMilliseconds)
    set(CURLOPT_LOW_SPEED_LIMIT, configuration.lowSpeed)
    set(CURLOPT_LOW_SPEED_TIME, (configuration.lowSpeedPeriod.wholeMilliseconds + 999) / 1000)
    set(CURLOPT_QUICK_EXIT, 1)  // a cancelled transfer does not wait for its resolver
    set(CURLOPT_BUFFERSIZE, 64 << 10)
    setTrust(configuration)
  }

  /// Sets method and content of the next request; they replace those of the last.
  /// - Returns: What has to be kept until then; `nil` for most.
  func setContent(of request: SourceRequest) -> MIMEForm? {
    set(CURLOPT_CUSTOMREQUEST, nil)
    set(CURLOPT_HTTPGET, 1)
    var form: MIMEForm?
    switch request.content {
    case .form(let parts):
      let made = MIMEForm(parts, for: self)
      set(CURLOPT_MIMEPOST, UnsafeMutableRawPointer(made.raw))
      form = made
    case .body(let text): setBody(text)
    case nil: if request.method != .get { setBody("") }
    }
    if request.method != .get, request.method != .post { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
    return form
  }

  private func setBody(_ text: String) {
    set(CURLOPT_POSTFIELDSIZE, text.utf8.count)
    text.withCString { set(CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0)) }
  }

  private func setTrust(_ configuration: TransferConfiguration) {
    for option in [CURLOPT_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYPEER] { set(option, 1) }
    for option in [CURLOPT_SSL_VERIFYHOST, CURLOPT_PROXY_SSL_VERIFYHOST] { set(option, 2) }
    if let file = configuration.certificateFile {
      for option in [CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO] { set(option, file) }
    }
    if let folder = configuration.certificateFolder {
      for option in [CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH] { set(option, folder) }
    }
  }
}

extension Duration {
  /// The duration in milliseconds, at least 1: libcurl takes 0 for "no limit".
  var wholeMilliseconds: Int {
    max(1, Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000))
  }
}
