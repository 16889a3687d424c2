/// `resize(mode width height enlarge)`: resamples to another size with a Lanczos kernel of three lobes, in sRGB values and
/// premultiplied alpha. The mode may be left out, and means `fit` then; `-` is a side that follows from the other.
struct Resize: FilterFunction, RowStage {
  /// How the picture is fitted to the rectangle.
  enum Mode: String, CaseIterable, Sendable {
    /// As large as possible within the rectangle.
    case fit
    /// As small as covers the rectangle, cropped to it.
    case fill
    /// Another name of `fill`, that of CSS.
    case cover
    /// The size of the rectangle, with another aspect ratio if necessary.
    case exact
  }

  /// More than a million times the longest side: never the one that limits the picture.
  private static let unbounded = 1 << 40

  static let name = "resize"
  static let syntax = "[fit | fill | cover | exact]? [<integer> | -]{2} <position>? enlarge?"
  static let summary =
    "resamples to fit into (the default), to fill or to have exactly this width and height; - with fit: that side follows "
    + "from the other; fill, or cover, keeps the middle, or the middle of a side (see crop); enlarges only with enlarge"

  /// Default `fit`; never `cover`.
  let mode: Mode
  /// What `fill` keeps. Default `center`.
  let anchor: Anchor
  /// Columns and rows, each 1…1 000 000; `unbounded` for a side that follows from the other.
  let wanted: PictureSize
  /// Whether the picture may be enlarged; default false.
  let enlarges: Bool
  /// The arguments in canonical form.
  let argument: String

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    let given: Mode = try arguments.leadingKeyword(default: .fit)
    mode = given == .cover ? .fill : given
    let start = arguments.offset
    let width = try arguments.side("a width, as in resize(fit 800 600) or resize(fit 800 -)")
    let columns = width.map(String.init) ?? "-"
    let height = try arguments.side(
      "a height, as in resize(fit \(columns) \(width == nil ? "600" : "-")) or resize(fit \(width ?? 800) 600)")
    if width == nil || height == nil {
      guard mode == .fit else {
        throw RecipeError("resize() takes - for a side with fit only; \(mode) needs both sides", at: start)
      }
      guard width != height else { throw RecipeError("resize() needs a width or a height beside -", at: start) }
    }
    wanted = PictureSize(width: width ?? Self.unbounded, height: height ?? Self.unbounded)
    let position = arguments.offset
    let anchor: Anchor? = arguments.keywordIfNext()
    guard anchor == nil || mode == .fill else {
      throw RecipeError(
        "resize() takes a position with fill and cover only; \(mode) keeps all of the picture", at: position)
    }
    self.anchor = anchor ?? .center
    enlarges = arguments.flag("enlarge")
    argument =
      "\(mode) \(columns) \(height.map(String.init) ?? "-")" + (self.anchor == .center ? "" : " \(self.anchor)")
      + (enlarges ? " enlarge" : "")
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
    case .fill, .cover: return filled(size)
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

  /// The largest part of the wanted aspect ratio. When it would have to be enlarged and must not be, a part of the wanted size,
  /// clamped to the picture.
  private func filled(_ size: PictureSize) -> ResamplingPlan {
    let (width, height) = (Double(size.width), Double(size.height))
    if !enlarges, size.width <= wanted.width || size.height <= wanted.height {
      let kept = PictureSize(width: min(size.width, wanted.width), height: min(size.height, wanted.height))
      let origin = anchor.origin(of: kept, in: size)
      return ResamplingPlan(
        columns: ResamplingAxis(
          length: size.width, start: Double(origin.column), extent: Double(kept.width), count: kept.width),
        rows: ResamplingAxis(
          length: size.height, start: Double(origin.row), extent: Double(kept.height), count: kept.height))
    }
    let scale = max(Double(wanted.width) / width, Double(wanted.height) / height)
    let (columns, rows) = (min(Double(wanted.width) / scale, width), min(Double(wanted.height) / scale, height))
    return ResamplingPlan(
      columns: ResamplingAxis(
        length: size.width, start: (width - columns) * anchor.shares.columns, extent: columns, count: wanted.width),
      rows: ResamplingAxis(
        length: size.height, start: (height - rows) * anchor.shares.rows, extent: rows, count: wanted.height))
  }
}
