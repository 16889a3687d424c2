/// How a stored picture must be turned to be upright (CIPA DC-008 § 4.6.5, tag 0112); raw values are those of EXIF.
enum Orientation: Int, CaseIterable, Sendable {
  case upright = 1
  case mirrored
  case upsideDown
  case flipped
  case transposed
  /// The stored picture must be turned clockwise.
  case turnedLeft
  case transversed
  /// The stored picture must be turned counterclockwise.
  case turnedRight

  /// Whether rows become columns.
  var exchangesSides: Bool { rawValue >= 5 }

  /// Whether the upright picture's columns come from the far end of the side that they were.
  var reversesColumns: Bool { [.mirrored, .upsideDown, .turnedLeft, .transversed].contains(self) }
  /// Whether the upright picture's rows come from the far end of the side that they were.
  var reversesRows: Bool { [.upsideDown, .flipped, .transversed, .turnedRight].contains(self) }

  /// Which column and row of a stored picture of some size is at a column and row of the upright one.
  func stored(_ column: Int, _ row: Int, width: Int, height: Int) -> (column: Int, row: Int) {
    switch self {
    case .upright: (column, row)
    case .mirrored: (width - 1 - column, row)
    case .upsideDown: (width - 1 - column, height - 1 - row)
    case .flipped: (column, height - 1 - row)
    case .transposed: (row, column)
    case .turnedLeft: (row, height - 1 - column)
    case .transversed: (width - 1 - row, height - 1 - column)
    case .turnedRight: (width - 1 - row, column)
    }
  }
}
