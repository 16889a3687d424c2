/// How densely pixels lie on paper; without a unit, only how wide a pixel is beside its height.
struct PixelDensity: Sendable, Equatable {
  /// What the pixels are counted along.
  enum Unit: Sendable {
    /// Nothing: only the ratio has a meaning.
    case none
    case inch, centimetre, metre
  }

  /// Pixels of a row in a unit, or a term of the ratio. Above 0.
  private(set) var horizontal: Int
  /// Pixels of a column in a unit, or a term of the ratio. Above 0.
  private(set) var vertical: Int
  let unit: Unit

  /// A density; nil for 0 pixels, and for square pixels without a unit, which is what files mean that say nothing.
  init?(horizontal: Int, vertical: Int, unit: Unit) {
    guard horizontal > 0, vertical > 0, unit != .none || horizontal != vertical else { return nil }
    self.horizontal = horizontal
    self.vertical = vertical
    self.unit = unit
  }

  /// That of the picture turned by a quarter.
  var turned: PixelDensity {
    var result = self
    (result.horizontal, result.vertical) = (vertical, horizontal)
    return result
  }

  /// The same in metres, as PNG has it (W3C PNG, third edition, § 11.3.4.3).
  var perMetre: PixelDensity? {
    switch unit {
    case .none, .metre: self
    case .inch: scaled(by: 1 / 0.0254, to: .metre)
    case .centimetre: scaled(by: 100, to: .metre)
    }
  }

  /// The same in inches, as JPEG and most people have it (ITU-T T.871 § 10.1), unless it is in centimetres already; nil
  /// when it is not within 1…65535.
  var perInch: PixelDensity? {
    let result = unit == .metre ? scaled(by: 0.0254, to: .inch) : self
    guard let result, max(result.horizontal, result.vertical) <= 0xFFFF else { return nil }
    return result
  }

  private func scaled(by factor: Double, to unit: Unit) -> PixelDensity? {
    PixelDensity(
      horizontal: Int((Double(horizontal) * factor).rounded()), vertical: Int((Double(vertical) * factor).rounded()),
      unit: unit)
  }
}
