/// One stage between decoder and encoder: changes the pixels of a row in place.
///
/// Samples are 0…1 before and must be 0…1 after. Colour is sRGB-encoded and not multiplied by alpha.
package protocol RowFilter: Sendable {
  /// Changes a row.
  func apply(to row: PixelRow)
}
