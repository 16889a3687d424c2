/// Where rows of a picture come from: a decoder, or a stage that makes them from the rows of another source.
///
/// Rows are pulled: who needs a row asks for the next, and the source asks for as many of its own source as it needs.
package protocol RowSource: AnyObject {
  /// How many pixels a row has, and how many rows there are.
  var size: PictureSize { get }
  /// The channels of the rows.
  var layout: PixelLayout { get }
  /// Makes the next row; `row` has this size's width and this layout. Not to be called after the last row or an error.
  func read(into row: PixelRow) throws(ImagingError)
}
