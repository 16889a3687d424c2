/// Columns and rows of a picture.
package struct PictureSize: Sendable, Hashable, CustomStringConvertible {
  /// Columns.
  let width: Int
  /// Rows.
  let height: Int

  /// Columns and rows exchanged.
  var transposed: PictureSize { PictureSize(width: height, height: width) }

  /// `640 × 480`
  package var description: String { "\(width) × \(height)" }
}
