/// One stage between decoder and encoder: changes the pixels of a row in place.
///
/// Samples are 0…1 before and must be 0…1 after. Colour is sRGB-encoded and not multiplied by alpha.
package protocol RowFilter: Sendable {
  /// Changes a row.
  func apply(to row: PixelRow)

  /// What it does to a colour, when that is an affine map of red, green and blue, limited to 0…1 afterwards, and nothing
  /// happens to alpha; nil by default.
  var affine: AffineColour? { get }
}

extension RowFilter {
  package var affine: AffineColour? { nil }
}
