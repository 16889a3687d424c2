/// Counts the requests that a transfer sends.
struct SentRequests {
  /// Those of ended requests.
  private(set) var count = RequestCount()

  /// How often the current request was sent: libcurl repeats a request when it learns that the server has closed a kept
  /// connection, and no part of an answer has arrived.
  private var times = 0

  /// Whether anything was sent for the current request, including for a tunnel.
  private(set) var hasSentBytes = false

  /// Whether the next bytes of a header are the first of a request, and not those that open a tunnel of a proxy.
  private var isNext = false

  mutating func requestBegins() { hasSentBytes = false }

  /// Records that libcurl has chosen a connection.
  /// - Parameter isSent: Whether the request may be sent over it.
  mutating func isConnected(isSent: Bool) { isNext = isSent }

  /// Records that a part of the request was sent.
  mutating func hasSent() {
    hasSentBytes = true
    if isNext { times += 1 }
    isNext = false
  }

  /// Counts the current request, including repetitions.
  /// - Parameter connections: The number of connections that were opened for it.
  mutating func requestEnds(newConnections connections: Int) {
    count.sent += times
    count.reused += max(0, times - connections)
    times = 0
  }
}
