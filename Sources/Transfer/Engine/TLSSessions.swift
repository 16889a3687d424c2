import CCrypto

/// The TLS sessions of all hosts of an engine, which later connections resume: no certificate is sent or verified then.
/// Used on the engine's thread only.
///
/// All connections of an engine verify certificates in the same way, so that a session never stands for a weaker
/// verification.
final class TLSSessions {
  private var recent = RecentSessions<TLSSession>()

  /// A session to resume; `nil` when none is known.
  func next(for origin: String) -> TLSSession? { recent.next(for: origin) }

  /// Keeps a session.
  func insert(_ session: TLSSession, for origin: String) { recent.insert(session, for: origin) }
}

/// Owns a session of OpenSSL's (`SSL_SESSION *`).
final class TLSSession {
  let raw: OpaquePointer

  /// - Parameter raw: A reference that the object releases.
  init(owning raw: OpaquePointer) { self.raw = raw }

  deinit { SSL_SESSION_free(raw) }
}
