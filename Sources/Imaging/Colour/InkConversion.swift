/// Makes red, green and blue of cyan, magenta, yellow and black: by the file's profile, or, when it has none, by
/// multiplication, as browsers do.
struct InkConversion {
  private let transform: ColourTransform?

  /// A conversion of inks of which 0 is all and 255 nothing, as Adobe writes them.
  init(_ colour: SourceColour) {
    transform = ColourTransforms.shared.transform(from: colour, .inks)
  }

  /// Converts a row of 8-bit samples in place; the fourth becomes a filler.
  func apply(to row: PackedRow) {
    if let transform { return transform.apply(to: row.bytes, count: row.width) }
    for column in 0..<row.width {
      let pixel = row.bytes.advanced(by: 4 * column).assumingMemoryBound(to: UInt8.self)
      let light = UInt32(pixel[3])
      for channel in 0..<3 {
        pixel[channel] = UInt8(truncatingIfNeeded: (UInt32(pixel[channel]) * light + 127) / 255)
      }
    }
  }
}
