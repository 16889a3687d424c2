/// How many transfers of a host run at once, learned from how it answers.
///
/// A host that answers with HTTP/2 gets one more with each answer over a connection that was open, up to its streams. When
/// a transfer had to open another connection, the open ones had no room, because the server allows fewer streams; then
/// the number falls, and rises again only by one for each 128 answers.
struct StreamLimit {
  /// How many transfers may run.
  private(set) var transfers: Int

  /// Whether the last answer came with HTTP/2. `nil`: there was none.
  private(set) var isHTTP2: Bool?

  /// Whether it is a number that holds whatever the host does.
  var isFixed: Bool { limit.connections == limit.streams }

  private let limit: HostLimit
  private var ceiling: Int
  private var answers = 0

  init(_ limit: HostLimit) {
    self.limit = limit
    (transfers, ceiling) = (max(1, limit.connections), max(1, limit.streams))
  }

  /// Counts an answer.
  /// - Parameters:
  ///   - isReused: Whether the connection was open before.
  ///   - couldShare: Whether the host was known to speak HTTP/2 when the transfer began.
  mutating func count(isHTTP2: Bool, isReused: Bool, couldShare: Bool) {
    defer { self.isHTTP2 = isHTTP2 }
    guard isHTTP2 else {
      (transfers, ceiling, answers) = (max(1, limit.connections), max(1, limit.streams), 0)
      return
    }
    if isReused {
      answers += 1
      if answers.isMultiple(of: 128) { ceiling = min(ceiling + 1, max(1, limit.streams)) }
      transfers = min(transfers + 1, ceiling)
    } else if couldShare {
      ceiling = max(min(max(1, limit.connections), ceiling), min(ceiling, transfers) - 1)
      transfers = ceiling
    }
  }
}
