/// Turns and mirrors a picture: upright, as EXIF says, and for `rotate()`, `flip()` and `flop()`.
///
/// A mirrored picture is turned row by row. All others are held whole, packed.
struct Turn: RowStage {
  /// What the picture is turned from.
  let orientation: Orientation
  /// Whether the picture is held with 16 bits for a sample even when it came with 8: its samples have been changed before
  /// and will be again, so rounding them in between might show.
  var isHeldDeep = false

  var window: RowWindow { orientation == .mirrored ? .row : .picture }
  var onlyMovesPixels: Bool { true }
  var exchangesSides: Bool { orientation.exchangesSides }

  func size(after size: PictureSize) -> PictureSize { exchangesSides ? size.transposed : size }

  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    guard window == .picture else { return 0 }
    return WholePicture.bytes(width: size.width, height: size.height, layout: held(layout))
  }

  func rows(from source: any RowSource) throws(ImagingError) -> any RowSource {
    guard window == .picture else { return FilteredRows(source, Mirror()) }
    return try TurnedRows(source, orientation, held: held(source.layout))
  }

  private func held(_ layout: PixelLayout) -> PixelLayout {
    var held = layout
    held.isDeep = held.isDeep || isHeldDeep
    return held
  }
}
