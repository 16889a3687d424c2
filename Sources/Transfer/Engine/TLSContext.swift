import CCrypto

/// The additions to a TLS context that libcurl has created for one connection (`SSL_CTX *`): a folder of trusted certificates,
/// and sessions of earlier connections. Lives as long as the context.
///
/// libcurl caches the parsed bundle for all connections only while it knows of no folder (`CURLOPT_CAPATH`); so the folder is
/// added when a certificate is verified. libcurl 7.88 keeps at most 8 sessions.
final class TLSContext {
  private let certificateFolder: String?
  private let sessions: TLSSessions
  private let origin: String?

  /// - Parameters:
  ///   - certificateFolder: A folder of trusted certificates, named by their hashes, besides the bundle. `nil`: none.
  ///   - origin: The origin of the connection's sessions. `nil`: none is resumed or kept.
  init(certificateFolder: String?, sessions: TLSSessions, origin: String?) {
    (self.certificateFolder, self.sessions, self.origin) = (certificateFolder, sessions, origin)
  }

  /// Attaches this object to a context (`SSL_CTX_set_ex_data`), which owns it from now on.
  /// - Returns: Whether that succeeded; otherwise memory is exhausted.
  func attach(to context: OpaquePointer) -> Bool {
    let retained = Unmanaged.passRetained(self)
    guard SSL_CTX_set_ex_data(context, Self.index, retained.toOpaque()) == 1 else {
      retained.release()
      return false
    }
    if certificateFolder != nil { SSL_CTX_set_cert_verify_callback(context, verifyCertificate, retained.toOpaque()) }
    if origin != nil {
      SSL_CTX_sess_set_new_cb(context, keepSession)
      SSL_CTX_set_info_callback(context, handshakeEvent)
    }
    return true
  }

  /// Verifies a certificate as OpenSSL does, with the folder's certificates trusted as well. The store is shared by all
  /// connections; OpenSSL adds the folder only once.
  fileprivate func verify(_ verification: OpaquePointer) -> Int32 {
    if let certificateFolder { X509_STORE_load_path(X509_STORE_CTX_get0_store(verification), certificateFolder) }
    return X509_verify_cert(verification)
  }

  /// Offers the server a session to resume.
  fileprivate func beginHandshake(_ ssl: OpaquePointer) {
    guard let origin, SSL_get_session(ssl) == nil, let session = sessions.next(for: origin) else { return }
    SSL_set_session(ssl, session.raw)
  }

  /// Keeps a session that the server allows to be resumed.
  fileprivate func keep(_ session: TLSSession) {
    if let origin { sessions.insert(session, for: origin) }
  }

  /// The object of a context; `nil` when it has none.
  fileprivate static func of(_ ssl: OpaquePointer) -> TLSContext? {
    guard let context = SSL_get_SSL_CTX(ssl), let data = SSL_CTX_get_ex_data(context, index) else { return nil }
    return Unmanaged<TLSContext>.fromOpaque(data).takeUnretainedValue()
  }

  /// The index of the object in a context (`SSL_CTX_get_ex_new_index`).
  private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil) {
    _, data, _, _, _, _ in
    if let data { Unmanaged<TLSContext>.fromOpaque(data).release() }
  }
}

private let verifyCertificate: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
  verification, data in
  guard let verification, let data else { return 0 }
  return Unmanaged<TLSContext>.fromOpaque(data).takeUnretainedValue().verify(verification)
}

/// Called, among others, before anything is sent; a session can be set until then.
private let handshakeEvent: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { ssl, event, _ in
  if let ssl, event & SSL_CB_HANDSHAKE_START != 0 { TLSContext.of(ssl)?.beginHandshake(ssl) }
}

/// Called for each ticket of the server. The result 1 keeps the session.
private let keepSession: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
  guard let ssl, let session, let context = TLSContext.of(ssl) else { return 0 }
  context.keep(TLSSession(owning: session))
  return 1
}
