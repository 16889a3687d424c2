/// `sharpen(sigma)`: an unsharp mask. Adds to each colour its difference to a Gaussian blur of the given standard
/// deviation. Alpha does not change.
struct Sharpen: FilterFunction, RowStage {
  static let name = "sharpen"
  static let syntax = "<number>"
  static let summary = "adds the difference to a Gaussian blur of this standard deviation in pixels"

  /// Pixels, 0.1…10.
  let deviation: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    deviation = try arguments.number("a sigma", in: 0.1...10)
  }

  var argument: String { deviation.cssText }
  var stage: any RowStage { self }

  /// The kernel's rows, the original rows that are buffered until their blur is known, the next input row, and the rows
  /// that the blur of columns holds.
  var window: RowWindow { .rows(3 * radius + 3 + ResampledColumns.rowsAhead + ResampledColumns.heldRows) }
  func size(after size: PictureSize) -> PictureSize { size }

  func rows(from source: any RowSource) -> any RowSource {
    SharpenedRows(source, kernel: .gaussian(deviation: deviation), radius: radius)
  }

  private var radius: Int { Int((3 * deviation).rounded(.up)) }
}
