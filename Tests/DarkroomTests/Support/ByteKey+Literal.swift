import System

extension ByteKey: ExpressibleByStringLiteral {
  /// Makes a key of a literal.
  public init(stringLiteral text: String) { self.init(text) }
}
