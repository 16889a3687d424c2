/// One step between decoder and encoder, as it is known before the first row. It may change the picture's size and need
/// more than a row at once; most stages do neither (`RowFilter`).
///
/// Samples are 0…1 before and must be 0…1 after. Colour is sRGB-encoded and not multiplied by alpha.
package protocol RowStage: Sendable {
  /// The size of the picture that leaves, for the one that enters.
  func size(after size: PictureSize) -> PictureSize
  /// How much is held of the picture that enters.
  var window: RowWindow { get }
  /// Bytes that are held for a picture of some size; 0 for a row. By default those of the window.
  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int
  /// Whether pixels get other places or are left out, and none another colour; false by default.
  var onlyMovesPixels: Bool { get }
  /// Whether rows become columns; false by default.
  var exchangesSides: Bool { get }
  /// What it does to a colour, when that is an affine map of red, green and blue, limited to 0…1 afterwards, and nothing
  /// happens to alpha, the size or the pixels' places; nil by default.
  var affine: AffineColour? { get }
  /// The rows that leave, made of those that enter. Reads none yet.
  /// - Throws: `image-too-large` when there is not so much memory.
  func rows(from source: any RowSource) throws(ImagingError) -> any RowSource
}

extension RowStage {
  package func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    switch window {
    case .row: return 0
    case .rows(let count):
      // Four floats are the most that a pixel has.
      let width = max(size.width, self.size(after: size).width)
      return count * width * MemoryLayout<SIMD4<Float>>.size
    case .picture: return WholePicture.bytes(width: size.width, height: size.height, layout: layout)
    }
  }

  package var onlyMovesPixels: Bool { false }
  package var exchangesSides: Bool { false }
  package var affine: AffineColour? { nil }
}
