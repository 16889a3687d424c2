/// The rows of a picture as its decoder reads them. Checks for cancellation every few rows.
final class DecodedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let decoder: any RowDecoder
  private let isCancelled: () -> Bool
  private var nextRow = 0

  /// Rows between two calls of `isCancelled`.
  static let rowsBetweenChecks = 8

  /// Starts a decoder, which delivers rows of `layout` at `eighths` eighths of each side.
  init(
    _ decoder: any RowDecoder, eighths: Int = 8, layout: PixelLayout, isCancelled: @escaping () -> Bool
  ) throws(ImagingError) {
    self.decoder = decoder
    self.layout = layout
    self.isCancelled = isCancelled
    size = decoder.size.reduced(toEighths: eighths)
    if eighths < 8 { decoder.reduce(toEighths: eighths) }
    try decoder.start(colour: !layout.isGrey, isCancelled: isCancelled)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    if nextRow % Self.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
    nextRow += 1
    try decoder.read(into: row)
  }

  /// Reads the remaining rows and the end of the file, so that damage anywhere is an error.
  func finish() throws(ImagingError) {
    if nextRow < size.height {
      let remaining = RowBuffer(width: size.width, layout: layout)
      while nextRow < size.height { try read(into: remaining.row) }
    }
    try decoder.finish()
  }
}
