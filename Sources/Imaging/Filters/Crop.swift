/// `crop(width height anchor)`: keeps a rectangle. Sides are clamped to those of the picture.
struct Crop: FilterFunction, RowStage {
  /// The position of the rectangle: the middle, or the middle of a side.
  enum Anchor: String, CaseIterable, Sendable {
    case center, top, bottom, left, right
  }

  static let name = "crop"
  static let syntax = "<integer> <integer> [center | top | bottom | left | right]?"
  static let summary = "keeps a rectangle of this width and height, by default the middle"

  /// Columns and rows, each 1…1 000 000.
  let wanted: PictureSize
  /// Default `center`.
  let anchor: Anchor

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    wanted = try arguments.size()
    anchor = try arguments.keyword(default: .center)
  }

  var argument: String { "\(wanted.width) \(wanted.height) \(anchor)" }
  var stage: any RowStage { self }

  let window = RowWindow.row
  let movesPixelsOnly = true

  func size(after size: PictureSize) -> PictureSize {
    PictureSize(width: min(wanted.width, size.width), height: min(wanted.height, size.height))
  }

  func rows(from source: any RowSource) -> any RowSource {
    CroppedRows(source, origin: origin(in: source.size), size: size(after: source.size))
  }

  /// The first column and row that are kept. When an odd number is cut off, the greater half is at the right or bottom.
  func origin(in size: PictureSize) -> (column: Int, row: Int) {
    let kept = self.size(after: size)
    let (spareColumns, spareRows) = (size.width - kept.width, size.height - kept.height)
    return switch anchor {
    case .center: (spareColumns / 2, spareRows / 2)
    case .top: (spareColumns / 2, 0)
    case .bottom: (spareColumns / 2, spareRows)
    case .left: (0, spareRows / 2)
    case .right: (spareColumns, spareRows / 2)
    }
  }
}
