import CCrypto
import Glibc

/// The layers between HTTP and the socket of a connection; the handles are OpenSSL's (`SSL *`).
enum ConnectionLayers {
  case none
  case tls(OpaquePointer)
  /// A TLS session within the TLS session with a proxy.
  case tlsOverTLS(OpaquePointer)
  /// TLS by another library.
  case unknown

  /// Whether bytes have arrived that HTTP has not read. Session tickets and close notifications do not count. With
  /// TLS over TLS only decrypted bytes are seen, with an unknown TLS library none.
  func hasUnreadBytes(in socket: Int32) -> Bool {
    switch self {
    case .none:
      var byte: UInt8 = 0
      return recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    case .tls(let ssl): return SSL_pending(ssl) > 0 || Self.peek(ssl, socket)
    case .tlsOverTLS(let ssl): return SSL_pending(ssl) > 0
    case .unknown: return false
    }
  }

  /// Reads ahead in a session up to application data (`SSL_peek`), which stays in the session.
  ///
  /// The session gets a plain BIO of the socket in the meantime: libcurl's BIO and its trace callback can only be used
  /// while libcurl reads for a transfer.
  private static func peek(_ ssl: OpaquePointer, _ socket: Int32) -> Bool {
    guard let reading = SSL_get_rbio(ssl), let writing = SSL_get_wbio(ssl),
      let plain = BIO_new_socket(socket, BIO_NOCLOSE)
    else { return false }
    // The session releases its BIOs as soon as it is given others.
    for end in [reading, writing, plain] { BIO_up_ref(end) }
    SSL_set0_rbio(ssl, plain)
    SSL_set0_wbio(ssl, plain)
    SSL_set_msg_callback(ssl, nil)  // libcurl's, which traces TLS messages; they are not used
    defer {
      SSL_set0_rbio(ssl, reading)
      SSL_set0_wbio(ssl, writing)
      ERR_clear_error()
    }
    ERR_clear_error()
    var byte: UInt8 = 0
    return SSL_peek(ssl, &byte, 1) > 0
  }
}
