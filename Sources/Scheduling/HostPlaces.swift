/// How many downloads from one host may run at once.
package struct HostPlaces: Equatable, Sendable, ExpressibleByIntegerLiteral {
  /// With a connection for each (HTTP/1.1).
  package let connections: Int

  /// With one connection for all of them (HTTP/2).
  package let streams: Int

  /// Whether the numbers hold whatever the host does, but for a refusal or silence.
  package let isFixed: Bool

  /// Numbers from which the host's answers may deviate downward.
  package init(connections: Int, streams: Int) {
    (self.connections, self.streams, isFixed) = (connections, streams, false)
  }

  package init(fixed number: Int) { (connections, streams, isFixed) = (number, number, true) }

  package init(integerLiteral number: Int) { self.init(fixed: number) }
}
