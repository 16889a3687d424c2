/// `sharpen(sigma)`: an unsharp mask. To each colour is added what it differs by from the same picture behind a Gaussian
/// of that standard deviation. Alpha stays.
struct Sharpen: FilterFunction, RowStage {
  static let name = "sharpen"
  static let syntax = "<number>"
  static let defaultArgument: String? = nil
  static let summary = "adds the difference to a Gaussian blur of so many pixels' standard deviation"

  /// Pixels, 0.1…10.
  let deviation: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    deviation = try arguments.number("a sigma", in: 0.1...10)
  }

  var argument: String { CSSNumber.text(deviation) }
  var stage: any RowStage { self }

  /// The kernel's rows, those that wait for the blur, and the one that comes; and what the blur of columns holds.
  var window: RowWindow { .rows(3 * radius + 3 + WeightedColumns.rowsAhead + WeightedColumns.heldRows) }
  func size(after size: PictureSize) -> PictureSize { size }

  func rows(from source: any RowSource) -> any RowSource {
    SharpenedRows(source, kernel: .gaussian(deviation: deviation), radius: radius)
  }

  private var radius: Int { Int((3 * deviation).rounded(.up)) }
}
