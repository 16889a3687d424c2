/// The number of transfers from one host at once: the allowed number, which the host's answers may lower.
package struct HostLimit: Sendable, Hashable, ExpressibleByIntegerLiteral {
  /// Over HTTP/1.1, each with its own connection; and with a host that has not answered yet. Default: 6.
  package var connections: Int

  /// Over HTTP/2, as streams of one connection. Default: 32.
  package var streams: Int

  /// Whether the numbers apply whatever the host does, except for a refusal or silence.
  package let isFixed: Bool

  /// The default, for a host whose protocol decides.
  package static let auto = HostLimit(connections: 6, streams: 32)

  package init(connections: Int, streams: Int) {
    (self.connections, self.streams, isFixed) = (connections, streams, false)
  }

  /// The same limit for both protocols.
  /// - Parameter number: At least 1.
  package init(fixed number: Int) { (connections, streams, isFixed) = (number, number, true) }

  package init(integerLiteral number: Int) { self.init(fixed: number) }
}
