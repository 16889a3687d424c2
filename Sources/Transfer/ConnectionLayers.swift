import CCrypto
import Glibc

/// What lies between HTTP and the socket of a connection; the handles are OpenSSL's (`SSL *`).
enum ConnectionLayers {
  case none
  case tls(OpaquePointer)
  /// The session with a proxy lies in between.
  case tlsOverTLS(OpaquePointer)
  /// Another library's TLS.
  case unknown

  /// Whether bytes have arrived that HTTP has not read: as far as can be told. Neither a session ticket nor the notice
  /// that the other side closes is any.
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

  /// Reads on in a session as far as something for HTTP (`SSL_peek`), which stays there.
  ///
  /// libcurl's own functions read from the socket and trace what comes: they need to know for which transfer, which they
  /// do while libcurl is reading, and not now.
  private static func peek(_ ssl: OpaquePointer, _ socket: Int32) -> Bool {
    guard let reading = SSL_get_rbio(ssl), let writing = SSL_get_wbio(ssl),
      let plain = BIO_new_socket(socket, BIO_NOCLOSE)
    else { return false }
    // The session lets go of what it has as soon as it is given another.
    for end in [reading, writing, plain] { BIO_up_ref(end) }
    SSL_set0_rbio(ssl, plain)
    SSL_set0_wbio(ssl, plain)
    SSL_set_msg_callback(ssl, nil)  // libcurl's, for a trace that nobody reads
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
