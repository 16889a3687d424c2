/// Whether results in PNG have a palette.
package enum PNGPalette: String, CaseIterable, Sendable {
  /// Never.
  case off
  /// Where that loses nothing: samples of 8 bits with at most 256 different colours, transparency included. The indices of the
  /// whole picture are held.
  case lossless
}
