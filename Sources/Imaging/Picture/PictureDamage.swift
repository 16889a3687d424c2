/// Damage of a picture that is decoded, or copied, nevertheless.
package struct PictureDamage: Sendable, Equatable {
  /// What it affects.
  package enum Kind: Sendable, CaseIterable {
    /// Nothing that can be seen: neither pixels nor colours nor the orientation depend on it.
    case harmless
    /// The picture may look otherwise than it did: its colours or its orientation, or in a copy its pixels.
    case visible
  }

  package let kind: Kind
  /// What is damaged, in the library's words.
  package let text: String

  package init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

  /// The first damage of several, but the first that is visible if one is.
  static func worse(_ first: PictureDamage?, _ next: PictureDamage) -> PictureDamage {
    guard let first, first.kind == .visible || next.kind == .harmless else { return next }
    return first
  }
}
