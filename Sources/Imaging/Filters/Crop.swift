/// `crop(width height anchor)`: keeps a rectangle. Sides are clamped to those of the picture.
struct Crop: FilterFunction, RowStage {
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

  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int { CroppedRows.heldBytes(of: size, layout: layout) }

  func rows(from source: any RowSource) -> any RowSource {
    let kept = size(after: source.size)
    return CroppedRows(source, origin: anchor.origin(of: kept, in: source.size), size: kept)
  }
}
