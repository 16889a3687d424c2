import CCurl

/// Owns an easy handle of libcurl and its error buffer. Remove it from its multi handle before it is released.
final class EasyHandle {
  /// The handle, which also identifies the transfer within its multi handle.
  let raw: UnsafeMutableRawPointer
  /// Why an option could not be set; `nil` when all were set. With a refusal the handle must not be used: a transfer would run
  /// without one of its limits.
  private(set) var refusal: String?
  private let errorBuffer = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Creates a handle (`curl_easy_init`). Ends the program when memory is exhausted.
  init() {
    // Fails only when memory is exhausted, as any allocation of Swift.
    guard let raw = curl_easy_init() else { fatalError("libcurl cannot make a handle") }
    self.raw = raw
    errorBuffer.pointee = 0
    set(CURLOPT_ERRORBUFFER, UnsafeMutableRawPointer(errorBuffer))
  }

  deinit {
    curl_easy_cleanup(raw)
    errorBuffer.deallocate()
  }

  /// libcurl's message for the last failure; may be empty.
  var errorText: String { String(cString: errorBuffer) }

  func set(_ option: CURLoption, _ value: Int) { check(ccurl_easy_setopt_long(raw, option, value), option) }

  func set(_ option: CURLoption, _ value: String) { check(ccurl_easy_setopt_string(raw, option, value), option) }

  func set(_ option: CURLoption, _ value: UnsafeMutableRawPointer?) {
    check(ccurl_easy_setopt_pointer(raw, option, value), option)
  }

  /// Sets a function that takes bytes.
  func set(_ option: CURLoption, _ value: curl_write_callback) {
    check(ccurl_easy_setopt_write(raw, option, value), option)
  }

  /// Continues a transfer that its callbacks have paused: delivers the data that it holds, during which the transfer may pause
  /// again. Not in a callback.
  /// - Parameter isReceiving: Whether to receive again, and not only to send.
  /// - Returns: The failure of the transfer; `CURLE_OK` without one.
  func resume(receiving isReceiving: Bool = true) -> CURLcode {
    curl_easy_pause(raw, isReceiving ? CURLPAUSE_CONT : CURLPAUSE_RECV)
  }

  /// An info value that is a string; `nil` when libcurl has none.
  func string(_ info: CURLINFO) -> String? {
    var value: UnsafePointer<CChar>?
    guard ccurl_easy_getinfo_string(raw, info, &value) == CURLE_OK, let value else { return nil }
    return String(cString: value)
  }

  /// An info value that is a `long`; `nil` when libcurl has none.
  func long(_ info: CURLINFO) -> Int? {
    var value = 0
    return ccurl_easy_getinfo_long(raw, info, &value) == CURLE_OK ? value : nil
  }

  /// An info value that is a `curl_off_t`; `nil` when libcurl has none.
  func offset(_ info: CURLINFO) -> Int? {
    var value: curl_off_t = 0
    return ccurl_easy_getinfo_offset(raw, info, &value) == CURLE_OK ? Int(value) : nil
  }

  /// The error number of the system call that made a connection fail; `nil` when there is none.
  var systemError: Int32? { long(CURLINFO_OS_ERRNO).flatMap { $0 == 0 ? nil : Int32(truncatingIfNeeded: $0) } }

  /// How a proxy answered the last `CONNECT`; `nil` when there was none.
  var connectStatus: Int? { long(CURLINFO_HTTP_CONNECTCODE).flatMap { $0 == 0 ? nil : $0 } }

  /// Whether the answer came over HTTP/2, which carries several transfers at once.
  var isHTTP2: Bool { (long(CURLINFO_HTTP_VERSION) ?? 0) >= CURL_HTTP_VERSION_2_0 }

  /// OpenSSL's handle (`SSL *`) of the session that HTTP uses on the current connection. `nil` without a connection or TLS, and
  /// when libcurl was built with another TLS library.
  var tlsSession: OpaquePointer? {
    var value: UnsafeMutablePointer<curl_tlssessioninfo>?
    guard ccurl_easy_getinfo_tls(raw, &value) == CURLE_OK, let session = value?.pointee,
      session.backend == CURLSSLBACKEND_OPENSSL
    else { return nil }
    return session.internals.map { OpaquePointer($0) }
  }

  /// Checks the result of setting an option.
  func check(_ code: CURLcode, _ option: CURLoption) {
    if code != CURLE_OK, refusal == nil {
      refusal = "libcurl refuses option \(option.rawValue) with code \(code.rawValue)"
    }
  }
}
