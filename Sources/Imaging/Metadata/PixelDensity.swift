/// The pixel density in print; without a unit, only the pixels' aspect ratio.
struct PixelDensity: Sendable, Equatable {
  enum Unit: Sendable {
    /// None: only the ratio is defined.
    case none
    case inch, centimetre, metre
  }

  /// Pixels per unit in a row, or a term of the ratio. Above 0.
  private(set) var horizontal: Int
  /// Pixels per unit in a column, or a term of the ratio. Above 0.
  private(set) var vertical: Int
  let unit: Unit

  /// Creates a density; nil for no pixels, and for square pixels without a unit, which is the same as no density.
  init?(horizontal: Int, vertical: Int, unit: Unit) {
    guard horizontal > 0, vertical > 0, unit != .none || horizontal != vertical else { return nil }
    self.horizontal = horizontal
    self.vertical = vertical
    self.unit = unit
  }

  var transposed: PixelDensity {
    var result = self
    (result.horizontal, result.vertical) = (vertical, horizontal)
    return result
  }

  /// The density per metre, the unit of PNG (W3C PNG, third edition, § 11.3.4.3); nil when it is not within 1…0x7FFFFFFF.
  var perMetre: PixelDensity? {
    let result: PixelDensity? =
      switch unit {
      case .none, .metre: self
      case .inch: scaled(by: 1 / 0.0254, to: .metre)
      case .centimetre: scaled(by: 100, to: .metre)
      }
    return result?.limited(to: 0x7FFF_FFFF)
  }

  /// The density per inch or centimetre, the units of JPEG (ITU-T T.871 § 10.1); nil when it is not within 1…65535.
  var perInch: PixelDensity? {
    let result = unit == .metre ? scaled(by: 0.0254, to: .inch) : self
    return result?.limited(to: 0xFFFF)
  }

  /// Itself, or nil when a number of it is larger.
  private func limited(to maximum: Int) -> PixelDensity? { max(horizontal, vertical) <= maximum ? self : nil }

  private func scaled(by factor: Double, to unit: Unit) -> PixelDensity? {
    PixelDensity(
      horizontal: Int((Double(horizontal) * factor).rounded()), vertical: Int((Double(vertical) * factor).rounded()),
      unit: unit)
  }
}
