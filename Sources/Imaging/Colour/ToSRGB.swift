/// Converts rows of a picture that carries another profile to sRGB. The first stage: all others count in sRGB.
final class ToSRGB: RowFilter, @unchecked Sendable {  // belongs to one pass, which runs on one thread
  private let transform: ColourTransform
  private let packed: PackedRow

  /// A stage for rows of a picture stored in some layout; nil when there is nothing to convert. `working` are the rows'
  /// channels: of a grey picture they may be coloured, all three the same.
  init?(_ colour: SourceColour, stored: PixelLayout, working: PixelLayout, width: Int) {
    let pixels: ColourTransform.Pixels =
      stored.isGrey
      ? .grey(hasAlpha: working.hasAlpha, isDeep: stored.isDeep) : .colour(isDeep: stored.isDeep)
    guard let transform = ColourTransforms.shared.transform(from: colour, pixels) else { return nil }
    self.transform = transform
    packed = PackedRow(
      width: width,
      layout: PixelLayout(isGrey: stored.isGrey, hasAlpha: working.hasAlpha, isDeep: stored.isDeep))
  }

  func apply(to row: PixelRow) {
    // Exact: the samples are still those of the file.
    row.pack(packed)
    transform.apply(to: packed.bytes, count: row.width)
    row.unpack(packed)
    guard packed.layout.isGrey, !row.layout.isGrey else { return }
    row.green.update(from: row.red, count: row.vectors)
    row.blue.update(from: row.red, count: row.vectors)
  }
}
