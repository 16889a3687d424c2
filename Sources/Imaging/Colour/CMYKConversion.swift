/// Converts CMYK to RGB: with the file's profile or, without one, by multiplication, as browsers do.
struct CMYKConversion {
  private let transform: ColourTransform?

  /// Creates a conversion of inverted CMYK, as written by Adobe: 0 is full ink, 255 none.
  init(_ colour: ColourSpace) {
    transform = ColourTransformCache.shared.transform(from: colour, .cmyk)
  }

  /// Converts a row of 8-bit samples in place; the fourth sample becomes a filler.
  func apply(to row: PackedRow) {
    if let transform { return transform.apply(to: row.bytes, count: row.width) }
    for column in 0..<row.width {
      let pixel = row.bytes.advanced(by: 4 * column).assumingMemoryBound(to: UInt8.self)
      let black = UInt32(pixel[3])
      for channel in 0..<3 {
        pixel[channel] = UInt8(truncatingIfNeeded: (UInt32(pixel[channel]) * black + 127) / 255)
      }
    }
  }
}
