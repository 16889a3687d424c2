/// Damage of a picture that is nevertheless decoded or copied. Damage of what samples are decoded with, such as tables, palettes
/// and transparency, is an error, and damage of the samples is one unless `DamagePolicy.accept` is chosen.
package struct PictureDamage: Sendable, Equatable {
  /// The effect of the damage, the least first.
  package enum Kind: Int, Sendable, CaseIterable {
    /// No visible effect: neither pixels nor colours nor the orientation depend on it.
    case harmless
    /// The picture may look different: its colours or its orientation, or in a copy its pixels.
    case visible
    /// Pixels are missing or wrong.
    case pixels
  }

  package let kind: Kind
  /// The damage, in the library's words. Of pixels: where it begins, and in the library's words what it is.
  package let text: String
  /// Whether it would be an error without `DamagePolicy.accept`. Damage of pixels always would.
  package let isAccepted: Bool

  /// - Parameter isAccepted: Default: for damage of pixels.
  package init(_ kind: Kind, _ text: String, isAccepted: Bool = false) {
    (self.kind, self.text, self.isAccepted) = (kind, text, isAccepted || kind == .pixels)
  }

  /// Damage of pixels.
  /// - Parameters:
  ///   - place: Where it begins, such as `after 16 of 100 rows`.
  ///   - cause: What it is.
  init(_ place: Place, _ cause: String) { self.init(.pixels, "\(place): \(cause)") }

  /// The first damage of the worst kind, which is accepted if one of the two is.
  static func worse(_ first: PictureDamage?, _ next: PictureDamage) -> PictureDamage {
    guard let first else { return next }
    let worse = first.kind.rawValue >= next.kind.rawValue ? first : next
    return PictureDamage(worse.kind, worse.text, isAccepted: first.isAccepted || next.isAccepted)
  }

  /// Accepted damage behind all pixels, of which nothing is lost.
  static func behindRows(_ cause: String) -> PictureDamage {
    PictureDamage(.harmless, "after all rows: \(cause)", isAccepted: true)
  }

  /// Where damage of pixels begins.
  enum Place: CustomStringConvertible {
    /// After so many rows of the file's order.
    case rows(Int, of: Int)
    /// Anywhere: a checksum is wrong.
    case anywhere
    /// In a pass or scan of one of the kinds that refine the whole picture; `number` is from 1.
    case refinement(String, number: Int)

    var description: String {
      switch self {
      case .rows(let count, let height): "after \(count) of \(height.of("row", "rows"))"
      case .refinement(let kind, let number): "in \(kind) \(number)"
      case .anywhere: "somewhere"
      }
    }
  }
}

/// What becomes of a picture whose file is cut off or broken in its pixels.
package enum DamagePolicy: String, CaseIterable, Sendable {
  /// It is an error.
  case fail
  /// What can be read is used, if at least a row can, and the rest stays empty.
  case accept
}

/// The damage of pixels that a decoder goes on after, or ends with, or that is behind them.
struct AcceptedDamage {
  private let policy: DamagePolicy
  /// The first damage; nil without any.
  private(set) var damage: PictureDamage?

  init(_ policy: DamagePolicy) { self.policy = policy }

  /// Whether damage is accepted.
  var isPossible: Bool { policy == .accept }

  /// Whether nothing more can be read of the picture.
  var isAtEnd: Bool { damage != nil }

  /// Ends the reading of a picture with an error, if that is accepted.
  /// - Parameters:
  ///   - error: What the decoder says.
  ///   - hasRows: Whether at least a row was decoded.
  ///   - place: Where the error is.
  /// - Throws: The error, if it is not accepted.
  mutating func end(with error: ImagingError, hasRows: Bool, _ place: PictureDamage.Place) throws(ImagingError) {
    guard isPossible, hasRows, [.imageCorrupt, .imageTruncated].contains(error.code) else { throw error }
    damage = damage ?? PictureDamage(place, error.message)
  }

  /// Ends the reading of a picture of which all rows were read with an error behind them, if damage is accepted.
  /// - Throws: The error, if it is not accepted.
  mutating func endAfterRows(with error: ImagingError) throws(ImagingError) {
    guard isPossible, [.imageCorrupt, .imageTruncated].contains(error.code) else { throw error }
    damage = damage ?? .behindRows(error.message)
  }
}
