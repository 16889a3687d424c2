/// The transformation that makes a stored picture upright (CIPA DC-008 § 4.6.5, tag 0112), named as in jpegtran(1). Raw
/// values are those of EXIF.
enum Orientation: Int, CaseIterable, Sendable {
  case upright = 1
  case flipHorizontal
  case rotate180
  case flipVertical
  case transpose
  /// Clockwise.
  case rotate90
  case transverse
  /// Clockwise.
  case rotate270

  /// Whether rows become columns.
  var transposes: Bool { rawValue >= 5 }

  /// Whether the columns of the upright picture run against the side of the stored picture that they come from.
  var reversesColumns: Bool { [.flipHorizontal, .rotate180, .rotate90, .transverse].contains(self) }
  /// Whether the rows of the upright picture run against the side of the stored picture that they come from.
  var reversesRows: Bool { [.rotate180, .flipVertical, .transverse, .rotate270].contains(self) }

  /// The column and row in a stored picture of the given size for a column and row of the upright picture.
  func stored(_ column: Int, _ row: Int, width: Int, height: Int) -> (column: Int, row: Int) {
    switch self {
    case .upright: (column, row)
    case .flipHorizontal: (width - 1 - column, row)
    case .rotate180: (width - 1 - column, height - 1 - row)
    case .flipVertical: (column, height - 1 - row)
    case .transpose: (row, column)
    case .rotate90: (row, height - 1 - column)
    case .transverse: (width - 1 - row, height - 1 - column)
    case .rotate270: (width - 1 - row, column)
    }
  }
}
