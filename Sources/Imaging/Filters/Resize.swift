/// `resize(mode width height enlarge)`: resamples to another size with a Lanczos kernel of three lobes, in sRGB values and
/// premultiplied alpha.
struct Resize: FilterFunction, RowStage {
  /// How the picture is fitted to the rectangle.
  enum Mode: String, CaseIterable, Sendable {
    /// As large as possible within the rectangle.
    case fit
    /// As small as covers the rectangle, cropped to its middle.
    case fill
    /// The size of the rectangle, with another aspect ratio if necessary.
    case exact
  }

  static let name = "resize"
  static let syntax = "[fit | fill | exact] <integer> <integer> enlarge?"
  static let defaultArgument: String? = nil
  static let summary = "resamples to fit into, to fill or to be so many columns and rows; larger only with enlarge"

  let mode: Mode
  /// Columns and rows, each 1…1 000 000.
  let wanted: PictureSize
  /// Whether the picture may be enlarged; default false.
  let enlarges: Bool

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    mode = try arguments.keyword()
    wanted = try arguments.size()
    enlarges = arguments.flag("enlarge")
  }

  var argument: String { "\(mode) \(wanted.width) \(wanted.height)\(enlarges ? " enlarge" : "")" }
  var stage: any RowStage { self }

  let window = RowWindow.rows(Resampling.heldRows)
  var resampling: (@Sendable (PictureSize) -> ResamplingPlan)? { { plan(for: $0) } }

  func size(after size: PictureSize) -> PictureSize { plan(for: size).size }

  func rows(from source: any RowSource) -> any RowSource { plan(for: source.size).rows(from: source) }

  /// The plan for an input size.
  func plan(for size: PictureSize) -> ResamplingPlan {
    switch mode {
    case .fit:
      let fitted = fitted(size)
      return ResamplingPlan(
        columns: ResamplingAxis(length: size.width, count: fitted.width),
        rows: ResamplingAxis(length: size.height, count: fitted.height))
    case .fill: return filled(size)
    case .exact:
      return ResamplingPlan(
        columns: ResamplingAxis(length: size.width, count: enlarges ? wanted.width : min(wanted.width, size.width)),
        rows: ResamplingAxis(length: size.height, count: enlarges ? wanted.height : min(wanted.height, size.height)))
    }
  }

  /// The limiting side gets the wanted length; the other is rounded to the nearest, halves up, and at least 1.
  private func fitted(_ size: PictureSize) -> PictureSize {
    if !enlarges, size.width <= wanted.width, size.height <= wanted.height { return size }
    if wanted.width * size.height <= wanted.height * size.width {
      return PictureSize(width: wanted.width, height: Self.rounded(size.height * wanted.width, size.width))
    }
    return PictureSize(width: Self.rounded(size.width * wanted.height, size.height), height: wanted.height)
  }

  private static func rounded(_ dividend: Int, _ divisor: Int) -> Int {
    max((2 * dividend + divisor) / (2 * divisor), 1)
  }

  /// The largest middle part of the wanted aspect ratio. When it would have to be enlarged and must not be, a middle part
  /// of the wanted size, clamped to the picture.
  private func filled(_ size: PictureSize) -> ResamplingPlan {
    let (width, height) = (Double(size.width), Double(size.height))
    if !enlarges, size.width <= wanted.width || size.height <= wanted.height {
      let (columns, rows) = (min(size.width, wanted.width), min(size.height, wanted.height))
      return ResamplingPlan(
        columns: ResamplingAxis(
          length: size.width, start: Double((size.width - columns) / 2), extent: Double(columns), count: columns),
        rows: ResamplingAxis(
          length: size.height, start: Double((size.height - rows) / 2), extent: Double(rows), count: rows))
    }
    let scale = max(Double(wanted.width) / width, Double(wanted.height) / height)
    let (columns, rows) = (min(Double(wanted.width) / scale, width), min(Double(wanted.height) / scale, height))
    return ResamplingPlan(
      columns: ResamplingAxis(
        length: size.width, start: (width - columns) / 2, extent: columns, count: wanted.width),
      rows: ResamplingAxis(length: size.height, start: (height - rows) / 2, extent: rows, count: wanted.height))
  }
}
