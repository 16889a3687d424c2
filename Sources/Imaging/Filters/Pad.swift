/// `pad(width height anchor colour)`: puts the picture on a canvas of at least this width and height.
struct Pad: FilterFunction, RowStage {
  static let name = "pad"
  static let syntax = "<integer> <integer> <position>? <color>?"
  static let summary =
    "puts the picture, by default in the middle (see crop), on a canvas of this width and height, by default transparent; the colour is around the picture, and background() puts one beneath it"

  /// Columns and rows, each 1…1 000 000. A side that is smaller than the picture's is that of the picture.
  let wanted: PictureSize
  /// The position of the picture; default `center`.
  let anchor: Anchor
  /// Default transparent.
  let colour: CSSColour

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    wanted = try arguments.size()
    anchor = arguments.keywordIfNext() ?? .center
    colour = try arguments.colour() ?? .transparent
  }

  var argument: String { "\(wanted.width) \(wanted.height) \(anchor) \(colour)" }
  var coloursGrey: Bool { !colour.isGrey }
  var makesTranslucent: Bool { !colour.isOpaque }
  var keepsOpaque: Bool { colour.isOpaque }
  var stage: any RowStage { self }

  let window = RowWindow.row

  func size(after size: PictureSize) -> PictureSize {
    PictureSize(width: max(wanted.width, size.width), height: max(wanted.height, size.height))
  }

  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int { PaddedRows.heldBytes(of: size, layout: layout) }

  func rows(from source: any RowSource) -> any RowSource {
    let size = size(after: source.size)
    return PaddedRows(source, size: size, origin: anchor.origin(of: source.size, in: size), colour: colour)
  }
}
