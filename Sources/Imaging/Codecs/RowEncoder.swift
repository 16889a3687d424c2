/// Writes a picture row by row. A codec is one file with a class that conforms, and one line in `RowEncoders`.
protocol RowEncoder: AnyObject {
  /// Writes the next row.
  func write(_ row: PixelRow) throws(ImagingError)
  /// Completes the file; all bytes have been handed to the system when it returns.
  func finish() throws(ImagingError)
}
