import CCurl

extension TransferError {
  /// Translates libcurl's code.
  /// - Parameters:
  ///   - detail: libcurl's message; may be empty.
  ///   - systemError: The error number of the system call that made a connection fail.
  ///   - exhaustion: Why no socket could be opened; `nil` when one could.
  ///   - refusal: Why the address policy refuses all addresses of the current host; `nil` when it allows one.
  ///   - proxyStatus: How the proxy answered `CONNECT`; `nil` when it was not asked for a tunnel.
  init(
    _ code: CURLcode, detail: String, systemError: Int32?, exhaustion: Int32?, refusal: String?, proxyStatus: Int?,
    location: SourceLocation
  ) {
    if code != CURLE_OK, let proxyStatus, !(200..<300).contains(proxyStatus) {
      let message = "\(location.redacted): the proxy answered CONNECT with \(proxyStatus)"
      // It does not reach the host; or it refuses.
      let isUnreached = [502, 503, 504].contains(proxyStatus)
      self.init(isUnreached ? .connect : .httpStatus, message, httpStatus: isUnreached ? nil : proxyStatus)
      return
    }
    if code == CURLE_COULDNT_CONNECT, let refusal {
      self.init(.addressNotAllowed, "\(location.redacted): \(refusal)")
      return
    }
    if code == CURLE_COULDNT_CONNECT, let exhaustion {
      self = .exhausted(exhaustion, "cannot connect", location)
      return
    }
    if code == CURLE_OUT_OF_MEMORY {
      // libcurl's code for a full buffer. Exhausted memory ends a Swift program.
      self.init(.tooLarge, "a line of a header may have 102400 bytes; one of \(location.redacted) has more")
      return
    }
    let reason = Self.reason(code, detail: detail)
    let kind = code == CURLE_SSL_CONNECT_ERROR && Self.isCutOff(reason) ? .network : Self.code(for: code)
    self.init(kind, "\(location.redacted): \(reason)", systemError: kind == .connect ? systemError : nil)
  }

  /// Why libcurl has failed.
  /// - Parameter detail: libcurl's message; may be empty. That about a proxy's URL which it refuses quotes that, with its password.
  static func reason(_ code: CURLcode, detail: String) -> String {
    detail.isEmpty || detail.contains("Unsupported proxy") ? String(cString: curl_easy_strerror(code)) : detail
  }

  /// Whether a handshake failed because the connection was lost, judged by libcurl's message: it could not read or write, or
  /// OpenSSL reports no error, or only an unexpected end.
  private static func isCutOff(_ message: String) -> Bool {
    ["Recv failure: ", "Send failure: ", "OpenSSL SSL_connect: "].contains { message.hasPrefix($0) }
      || message.hasSuffix("unexpected eof while reading")
  }

  private static func code(for code: CURLcode) -> Code {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dns
    case CURLE_COULDNT_CONNECT, CURLE_INTERFACE_FAILED: .connect
    case CURLE_OPERATION_TIMEDOUT: .timeout
    case CURLE_TOO_MANY_REDIRECTS: .tooManyRedirects
    case CURLE_PARTIAL_FILE: .truncated
    case CURLE_URL_MALFORMAT: .urlInvalid
    case CURLE_FILESIZE_EXCEEDED: .tooLarge
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
      .tls
    default: .network
    }
  }
}

extension TransferError.ProxyFailure {
  /// Translates libcurl's code.
  /// - Parameter isUnreachable: Whether there was no connection to the proxy.
  /// - Returns: nil when the proxy did not fail, or its failure tells something about the host.
  init?(_ code: CURLcode, isUnreachable: Bool) {
    if code == CURLE_COULDNT_RESOLVE_PROXY {
      self = .unresolved
    } else if isUnreachable {
      self = .unreachable
    } else {
      return nil
    }
  }
}
