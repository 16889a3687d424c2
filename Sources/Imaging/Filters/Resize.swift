/// `resize(mode width height enlarge)`: resamples to another size with a Lanczos kernel of three lobes, in sRGB values and
/// premultiplied alpha. The mode may be left out, and means `fit` then; `-` is a side that follows from the other.
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
  static let syntax = "[fit | fill | exact]? [<integer> | -]{2} enlarge?"
  static let summary =
    "resamples to fit into (the default), to fill or to have exactly this width and height; - with fit: that side follows "
    + "from the other; enlarges only with enlarge"

  /// Default `fit`.
  let mode: Mode
  /// Columns and rows, each 1…1 000 000; the maximum for a side that follows from the other.
  let wanted: PictureSize
  /// Whether the picture may be enlarged; default false.
  let enlarges: Bool
  /// The arguments in canonical form.
  let argument: String

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    mode = try arguments.leadingKeyword(default: .fit)
    let start = arguments.offset
    let width = try arguments.side("a width, as in resize(fit 800 600) or resize(fit 800 -)")
    let given = width.map(String.init) ?? "-"
    let height = try arguments.side(
      "a height, as in resize(fit \(given) \(width == nil ? "600" : "-")) or resize(fit \(width ?? 800) 600)")
    if width == nil || height == nil {
      guard mode == .fit else {
        throw RecipeError("resize() takes - for a side with fit only; \(mode) needs both sides", at: start)
      }
      guard width != height else { throw RecipeError("resize() needs a width or a height beside -", at: start) }
    }
    let limit = ImageLimits.maxSide
    wanted = PictureSize(width: width ?? limit, height: height ?? limit)
    enlarges = arguments.flag("enlarge")
    argument = "\(mode) \(given) \(height.map(String.init) ?? "-")" + (enlarges ? " enlarge" : "")
  }

  var stage: any RowStage { self }

  let window = RowWindow.rows(Resampling.heldRows)
  var resampling: (@Sendable (PictureSize) -> ResamplingPlan)? { { plan(for: $0) } }

  func size(after size: PictureSize) -> PictureSize { plan(for: size).size }

  func rows(from source: any RowSource) -> any RowSource { plan(for: source.size).rows(from: source) }

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
