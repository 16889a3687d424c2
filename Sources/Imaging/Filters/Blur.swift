/// `blur(deviation)`: a Gaussian blur (Filter Effects Module Level 1 § 12.1.9), approximated by three box blurs, in
/// premultiplied alpha. Pixels outside the canvas are transparent, so the edges fade.
struct Blur: FilterFunction, RowStage {
  static let name = "blur"
  static let syntax = "<length>?"
  static let defaultArgument: String? = "0px"
  static let summary = "blurs with a Gaussian of this standard deviation; edges fade out"

  /// Pixels, 0…532.
  let deviation: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    deviation = try arguments.deviation(default: 0, ceiling: BoxSizes.maxDeviation)
  }

  var argument: String { deviation.cssText + "px" }
  var makesTranslucent: Bool { !boxes.isIdentity }
  var stage: any RowStage { self }

  var window: RowWindow { boxes.isIdentity ? .row : .rows(boxes.sizes.reduce(0, +)) }
  func size(after size: PictureSize) -> PictureSize { size }

  func rows(from source: any RowSource) -> any RowSource {
    if boxes.isIdentity { return source }
    return FilteredRows(BlurredRows(FilteredRows(source, Premultiply()), boxes), Unpremultiply())
  }

  private var boxes: BoxSizes { BoxSizes(deviation: deviation) }
}
