/// A source of rows: a decoder, or a stage that makes them from the rows of another source.
///
/// Rows are pulled: the consumer asks for the next row, and a stage reads as many rows of its own source as it needs.
package protocol RowSource: AnyObject {
  /// The width of rows and their number.
  var size: PictureSize { get }
  /// The channels of the rows.
  var layout: PixelLayout { get }
  /// Reads the next row into `row`, which has this source's width and layout. Must not be called after the last row or an
  /// error.
  func read(into row: PixelRow) throws(ImagingError)
}
