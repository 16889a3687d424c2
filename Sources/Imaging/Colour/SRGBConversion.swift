/// Converts rows of another colour space to sRGB. The first stage: all others work in sRGB.
final class SRGBConversion: RowFilter, @unchecked Sendable {  // used by one pass, which runs on one thread
  private let transform: ColourTransform
  private let packed: PackedRow

  /// Creates a stage with a transform of `pixels(stored:working:)`. `stored` is the layout in the file, `working` that of the
  /// rows: the rows of a grey picture may be coloured, with three equal channels.
  init(_ transform: ColourTransform, stored: PixelLayout, working: PixelLayout, width: Int) {
    self.transform = transform
    packed = PackedRow(
      width: width,
      layout: PixelLayout(isGrey: stored.isGrey, hasAlpha: working.hasAlpha, is16Bit: stored.is16Bit))
  }

  /// The pixels that the transform of a stage converts.
  static func pixels(stored: PixelLayout, working: PixelLayout) -> ColourTransform.Pixels {
    stored.isGrey
      ? .grey(hasAlpha: working.hasAlpha, is16Bit: stored.is16Bit) : .colour(is16Bit: stored.is16Bit)
  }

  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    PackedRow.bytes(width: packed.width, layout: packed.layout)
  }

  func apply(to row: PixelRow) {
    // Exact: the samples have not been changed since they were decoded.
    row.pack(packed)
    transform.apply(to: packed.bytes, count: row.width)
    row.unpack(packed)
    guard packed.layout.isGrey, !row.layout.isGrey else { return }
    row.green.update(from: row.red, count: row.vectors)
    row.blue.update(from: row.red, count: row.vectors)
  }
}

/// Converts CMYK to RGB: with the file's profile or, without one, by multiplication, as browsers do.
struct CMYKConversion {
  private let transform: ColourTransform?

  /// Creates a conversion of inverted CMYK, as written by Adobe: 0 is full ink, 255 none.
  init(_ colour: ColourSpace) {
    if case .transform(let transform) = ColourTransformCache.shared.conversion(from: colour, .cmyk) {
      self.transform = transform
    } else {
      transform = nil
    }
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
