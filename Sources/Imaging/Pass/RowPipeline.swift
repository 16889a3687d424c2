/// What becomes of a picture between decoder and encoder, decided from the recipe, the source and the output format
/// before the first row.
struct RowPipeline {
  /// The channels of the rows while they pass through the stages.
  let working: PixelLayout
  /// The channels and depth of what is written.
  let output: PixelLayout
  /// Eighths of the source's sides that the decoder delivers: 8, or fewer when the first thing done is to reduce it.
  let eighths: Int
  /// The stages in their order.
  let stages: [any RowStage]
  /// The size of the picture before each stage, and after the last.
  let sizes: [PictureSize]
  /// Whether the first stage converts from another profile to sRGB.
  let convertsColour: Bool

  /// The pipeline of a recipe for what a decoder reads.
  init(recipe: Recipe, source: any RowDecoder, format: ImageFormat) {
    self.init(
      recipe: recipe, source: source.layout, size: source.size, orientation: source.metadata.orientation,
      colour: source.metadata.colour, reductions: source.reductions, format: format)
  }

  /// The pipeline of a recipe for a source of some layout and size, which must be turned from some orientation, converted
  /// from some colours, and can be read at some parts of its size.
  init(
    recipe: Recipe, source: PixelLayout, size: PictureSize, orientation: Orientation = .upright,
    colour: SourceColour = .sRGB, reductions: [Int] = [], format: ImageFormat
  ) {
    let keepsGrey = source.isGrey && !recipe.filters.contains { $0.coloursGrey }
    let hasAlpha = source.hasAlpha || recipe.filters.contains { $0.makesTranslucent }
    working = PixelLayout(isGrey: keepsGrey, hasAlpha: hasAlpha, isDeep: source.isDeep)
    output = PixelLayout(
      isGrey: keepsGrey && format.hasGrey, hasAlpha: hasAlpha && format.hasAlpha,
      isDeep: source.isDeep && format.hasDeepSamples)
    let turn = Turn(orientation: orientation)
    var filters = recipe.filters.map(\.stage)
    var eighths = 8
    if let resize = filters.first as? Resize {
      let plan = resize.plan(for: turn.size(after: size))
      let reading = ReducedReading(plan, reductions: reductions, orientation: orientation)
      filters[0] = Resampling(plan: reading?.plan ?? plan)
      eighths = reading?.eighths ?? 8
    }
    self.eighths = eighths
    let delivered = size.reduced(toEighths: eighths)
    let conversion = ToSRGB(colour, stored: source, working: working, width: delivered.width)
    convertsColour = conversion != nil

    // The order of everything that happens to pixels.
    stages = Self.keepingDepth(
      (conversion.map { [$0] } ?? [])
        + (orientation == .upright ? [] : [turn])
        + filters
        + (hasAlpha && !format.hasAlpha ? [LaidOnWhite()] : []))
    sizes = stages.reduce(into: [delivered]) { sizes, stage in sizes.append(stage.size(after: sizes[sizes.count - 1])) }
  }

  /// The size of what is written.
  var outputSize: PictureSize { sizes[sizes.count - 1] }

  /// Whether rows have become columns.
  var exchangesSides: Bool { stages.count(where: \.exchangesSides) % 2 == 1 }

  /// Whether each pixel that is written was made of one that was read, so that few colours remain few.
  var keepsPixelsApart: Bool { stages.allSatisfy { $0.onlyMovesPixels || $0.window == .row } }

  /// Bytes that the stages hold, all of them at the same time.
  var heldBytes: Int {
    zip(stages, sizes).reduce(0) { $0 + $1.0.heldBytes(of: $1.1, layout: working) }
  }

  /// The rows that leave the last stage, made of those of a source.
  func rows(from source: any RowSource) throws(ImagingError) -> any RowSource {
    var rows = source
    for stage in stages { rows = try stage.rows(from: rows) }
    return rows
  }

  /// The same stages; turns between others that change samples do not round to 8 bits.
  private static func keepingDepth(_ stages: [any RowStage]) -> [any RowStage] {
    guard let first = stages.firstIndex(where: { !$0.onlyMovesPixels }),
      let last = stages.lastIndex(where: { !$0.onlyMovesPixels })
    else { return stages }
    return stages.enumerated().map { index, stage in
      guard index > first, index < last, var turn = stage as? Turn else { return stage }
      turn.isHeldDeep = true
      return turn
    }
  }

  /// The pipeline in words.
  static func explanation(of recipe: Recipe) -> [String] {
    var lines = [
      "decode: a JPEG, PNG or WebP, row by row; alpha apart", "convert to sRGB: only what carries another profile",
      "turn upright: only what EXIF says must be",
    ]
    for (index, filter) in recipe.filters.enumerated() {
      let function = "\(type(of: filter).name)(\(filter.argument))"
      lines.append("filter \(index + 1): \(function), \(type(of: filter).summary)\(filter.stage.window.words)")
    }
    lines.append("lay on white: only what has alpha, and only for JPEG")
    lines.append("encode: in the format and quality asked for; of metadata what --metadata says")
    if recipe.isEmpty {
      lines.append("instead of all this, with the format keep: copy the file, after a look at its header")
    }
    if recipe.filters.first is Resize {
      lines.append("shorter, from JPEG: read at 1/2, 1/4 or 1/8 of its size where the result does not show it")
    }
    if let road = ResizedPlanes.explanation(of: recipe) { lines.append(road) }
    if let road = PlanePass.explanation(of: recipe) { lines.append(road) }
    return lines
  }
}

extension ImageFormat {
  /// Whether files of the format can have an alpha channel.
  fileprivate var hasAlpha: Bool { self != .jpeg }
  /// Whether files of the format can have grey samples only.
  fileprivate var hasGrey: Bool { self != .webp }
  /// Whether files of the format can have 16 bits for a sample.
  fileprivate var hasDeepSamples: Bool { self == .png }
}
