/// `drop-shadow(colour x y deviation)`: composites the picture over a shadow (Filter Effects Module Level 1 § 12.1.10): its
/// alpha in one colour, offset, blurred as by `blur()`, clipped to the canvas.
struct DropShadow: FilterFunction, RowStage {
  static let name = "drop-shadow"
  static let syntax = "<color>? && <length>{2,3}"
  static let summary = "puts a shadow beneath a translucent picture: its colour, right, down, standard deviation"

  /// Default black.
  let colour: CSSColour
  /// Columns to the right and rows down, in whole pixels: fractions are rounded to the nearest, halves to the left and up,
  /// as in Chromium.
  let offset: (x: Int, y: Int)
  /// Pixels, 0…532; default 0.
  let deviation: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    let before = try arguments.colour()
    let (x, y) = (try arguments.length("a horizontal offset"), try arguments.length("a vertical offset"))
    offset = (Int((x - 0.5).rounded(.up)), Int((y - 0.5).rounded(.up)))
    deviation = try arguments.deviation(default: 0, ceiling: BoxSizes.maxDeviation)
    let after = before == nil ? try arguments.colour() : nil
    colour = before ?? after ?? .black
  }

  var argument: String { "\(colour) \(offset.x)px \(offset.y)px \(deviation.cssText)px" }
  var coloursGrey: Bool { !colour.isGrey }
  var stage: any RowStage { self }

  var window: RowWindow { .rows(boxes.sizes.reduce(0, +) + abs(boxes.delay - offset.y) + 1) }
  func size(after size: PictureSize) -> PictureSize { size }

  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    guard isVisible(size, layout) else { return 0 }
    let rows = boxes.sizes.reduce(0, +) + abs(boxes.delay - offset.y) + 1
    return rows * size.width * MemoryLayout<SIMD4<Float>>.size
  }

  func rows(from source: any RowSource) -> any RowSource {
    guard isVisible(source.size, source.layout) else { return source }
    let shadowed = ShadowedRows(FilteredRows(source, Premultiply()), boxes, offset: offset, colour: colour)
    return FilteredRows(shadowed, Unpremultiply())
  }

  private var boxes: BoxSizes { BoxSizes(deviation: deviation) }

  /// Whether some of the shadow is on the canvas and not covered by an opaque picture.
  private func isVisible(_ size: PictureSize, _ layout: PixelLayout) -> Bool {
    layout.hasAlpha && abs(offset.x) < size.width + boxes.delay && abs(offset.y) < size.height + boxes.delay
  }
}
