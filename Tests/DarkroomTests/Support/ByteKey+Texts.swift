import System

extension ByteKey: ExpressibleByStringLiteral, CustomDebugStringConvertible {
  /// Makes a key of a literal.
  public init(stringLiteral text: String) { self.init(text) }

  /// The text in quotes.
  public var debugDescription: String { text.debugDescription }
}
