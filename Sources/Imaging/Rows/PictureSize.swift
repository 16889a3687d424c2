/// Columns and rows of a picture.
package struct PictureSize: Sendable, Hashable, CustomStringConvertible {
  /// Columns.
  let width: Int
  /// Rows.
  let height: Int

  /// Columns and rows exchanged.
  var transposed: PictureSize { PictureSize(width: height, height: width) }

  /// What a decoder delivers that reads so many eighths of each side.
  func reduced(toEighths eighths: Int) -> PictureSize {
    PictureSize(
      width: Self.reduced(width, toEighths: eighths), height: Self.reduced(height, toEighths: eighths))
  }

  /// Eighths of a side, rounded up.
  static func reduced(_ side: Int, toEighths eighths: Int) -> Int { (side * eighths + 7) / 8 }

  /// `640 × 480`
  package var description: String { "\(width) × \(height)" }
}
