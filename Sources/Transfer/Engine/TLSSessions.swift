import CCrypto

/// The TLS sessions of all hosts of an engine, for later connections to resume: then no certificate is sent or verified.
/// Used on the engine's thread only.
///
/// All connections of an engine verify certificates in the same way, so that a session never stands for a weaker
/// verification.
typealias TLSSessions = RecentSessions<TLSSession>

/// Owns a session of OpenSSL (`SSL_SESSION *`).
final class TLSSession {
  let raw: OpaquePointer

  /// - Parameter raw: A reference that the object releases.
  init(owning raw: OpaquePointer) { self.raw = raw }

  deinit { SSL_SESSION_free(raw) }
}

/// The newest sessions of the most recently used origins.
final class RecentSessions<Session> {
  private struct Origin {
    /// The newest is last.
    var sessions: [Session] = []
    var lastUse = 0
  }

  private let origins: Int
  private let sessionsOfOrigin: Int
  private var known: [String: Origin] = [:]
  private var uses = 0

  /// - Parameters:
  ///   - origins: The number of origins that are remembered. Default: 1024.
  ///   - sessionsOfOrigin: The number of sessions of each. Default: 2, as many as servers send for a connection.
  init(origins: Int = 1024, sessionsOfOrigin: Int = 2) {
    (self.origins, self.sessionsOfOrigin) = (origins, sessionsOfOrigin)
  }

  /// Adds a session, and removes the oldest one of its origin or the least recently used origin when there are too many.
  func insert(_ session: Session, for name: String) {
    var origin = known[name] ?? Origin()
    origin.sessions.append(session)
    if origin.sessions.count > sessionsOfOrigin { origin.sessions.removeFirst() }
    use(&origin, name)
    if known.count > origins, let oldest = known.min(by: { $0.value.lastUse < $1.value.lastUse })?.key {
      known[oldest] = nil
    }
  }

  /// Returns the newest session, `nil` without any, and removes it unless it is the last: a ticket of TLS 1.3 should be used
  /// once (RFC 8446, appendix C.4), but a connection without any costs more.
  func next(for name: String) -> Session? {
    guard var origin = known[name] else { return nil }
    let session = origin.sessions.count > 1 ? origin.sessions.removeLast() : origin.sessions.last
    use(&origin, name)
    return session
  }

  private func use(_ origin: inout Origin, _ name: String) {
    uses += 1
    origin.lastUse = uses
    known[name] = origin
  }
}
