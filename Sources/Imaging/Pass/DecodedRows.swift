/// The rows of a picture as its decoder reads them. Asks every few rows whether to go on.
final class DecodedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let decoder: any RowDecoder
  private let isCancelled: () -> Bool
  private var nextRow = 0

  /// Rows between two looks at `isCancelled`.
  static let rowsBetweenChecks = 8

  /// Starts a decoder, which delivers rows of the channels of `layout` and so many eighths of its picture's sides.
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

  /// Reads the rows that nobody wanted and then on to the end, so that damage anywhere is an error.
  func finish() throws(ImagingError) {
    if nextRow < size.height {
      let unwanted = RowBuffer(width: size.width, layout: layout)
      while nextRow < size.height { try read(into: unwanted.row) }
    }
    try decoder.finish()
  }
}
