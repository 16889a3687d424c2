/// How many transfers from one host run at once.
package struct HostLimit: Sendable, Hashable {
  /// Over HTTP/1.1, each with a connection of its own; and with a host that has not answered yet. Default: 6.
  package var connections = 6

  /// Over HTTP/2, as streams of one connection. Default: 32.
  package var streams = 32

  private init() {}

  /// The default, for a host whose protocol decides.
  package static let auto = HostLimit()

  /// The same limit for both protocols.
  /// - Parameter fixed: At least 1.
  package init(fixed: Int) { (connections, streams) = (fixed, fixed) }

  /// The limit with a protocol.
  package func transfers(isHTTP2: Bool) -> Int { isHTTP2 ? streams : connections }
}
