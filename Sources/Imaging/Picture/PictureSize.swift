/// The width and height of a picture.
package struct PictureSize: Sendable, Hashable, CustomStringConvertible {
  let width: Int
  let height: Int

  var transposed: PictureSize { PictureSize(width: height, height: width) }

  /// The columns and rows that both sizes have.
  func common(_ other: PictureSize) -> PictureSize {
    PictureSize(width: min(width, other.width), height: min(height, other.height))
  }

  /// The size that a decoder delivers when it scales each side to `eighths` eighths.
  func reduced(toEighths eighths: Int) -> PictureSize {
    PictureSize(
      width: Self.reduced(width, toEighths: eighths), height: Self.reduced(height, toEighths: eighths))
  }

  /// `eighths` eighths of a side, rounded up.
  static func reduced(_ side: Int, toEighths eighths: Int) -> Int { (side * eighths + 7) / 8 }

  /// `640 × 480`
  package var description: String { "\(width) × \(height)" }
}
