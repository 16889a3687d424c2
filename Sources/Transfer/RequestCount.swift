/// How many requests a transfer sent; none for a file, or when every address was refused.
package struct RequestCount: Sendable, Hashable {
  /// All, each redirect included.
  package var sent = 0

  /// Those that went over a connection that was open already.
  package var reused = 0

  package init(sent: Int = 0, reused: Int = 0) {
    self.sent = sent
    self.reused = reused
  }
}
