/// The position of a rectangle in a larger one: the middle, or the middle of a side.
enum Anchor: String, CaseIterable, Sendable {
  case center, top, bottom, left, right

  /// The share of the spare columns that is to the left, and of the spare rows that is above: 0, ½ or 1.
  var shares: (columns: Double, rows: Double) {
    switch self {
    case .center: (0.5, 0.5)
    case .top: (0.5, 0)
    case .bottom: (0.5, 1)
    case .left: (0, 0.5)
    case .right: (1, 0.5)
    }
  }

  /// The first column and row of a rectangle. When the spare pixels are an odd number, the greater half is at the right or bottom.
  func origin(of inner: PictureSize, in outer: PictureSize) -> (column: Int, row: Int) {
    (
      Int(Double(outer.width - inner.width) * shares.columns), Int(Double(outer.height - inner.height) * shares.rows)
    )
  }
}
