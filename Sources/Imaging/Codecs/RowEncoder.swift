/// Writes a picture row by row. A codec is one file with a class that conforms, and one line in `RowEncoders`.
protocol RowEncoder: AnyObject {
  /// Writes the next row.
  func write(_ row: PixelRow) throws(ImagingError)
  /// Completes the file; all bytes have been handed to the system when it returns. Pictures that cannot be written row by
  /// row are encoded here, calling `isCancelled` now and then.
  func finish(isCancelled: () -> Bool) throws(ImagingError)
}
