/// The stages between decoder and encoder, derived from the recipe, the source and the output format before the first row.
struct RowPipeline {
  /// The layout of rows between the stages.
  let working: PixelLayout
  let output: PixelLayout
  /// Eighths of the source's sides that the decoder delivers: 8, or fewer when the first stage reduces the picture.
  let eighths: Int
  let stages: [any RowStage]
  /// The size of the picture before each stage, and after the last.
  let sizes: [PictureSize]
  /// The metadata of the source without a profile that is invalid or does not apply to its pixels, and without its colour
  /// space if the first stage converts that to sRGB.
  let metadata: Metadata

  /// Creates the pipeline of a recipe for the picture of a decoder.
  init(recipe: Recipe, source: any RowDecoder, format: ImageFormat) {
    self.init(
      recipe: recipe, source: source.layout, size: source.size, metadata: source.metadata,
      reductions: source.reductions, format: format)
  }

  /// Creates the pipeline of a recipe for a source with this layout, size and metadata, which can be decoded at these
  /// reductions.
  init(
    recipe: Recipe, source: PixelLayout, size: PictureSize, metadata: Metadata = Metadata(), reductions: [Int] = [],
    format: ImageFormat
  ) {
    let keepsGrey = source.isGrey && !recipe.filters.contains { $0.coloursGrey }
    let hasAlpha = source.hasAlpha || recipe.filters.contains { $0.makesTranslucent }
    let isOpaque = !hasAlpha || Self.isOpaque(after: recipe.filters)
    working = PixelLayout(isGrey: keepsGrey, hasAlpha: hasAlpha, is16Bit: source.is16Bit)
    output = PixelLayout(
      isGrey: keepsGrey && format.hasGrey, hasAlpha: !isOpaque && format.hasAlpha,
      is16Bit: source.is16Bit && format.has16Bit)
    let orientation = metadata.orientation
    let reorient = Reorient(orientation: orientation)
    var filters = recipe.filters.map(\.stage)
    var eighths = 8
    if let plan = filters.first?.resampling?(reorient.size(after: size)) {
      let scaled = ScaledDecoding(plan, reductions: reductions, orientation: orientation)
      filters[0] = Resampling(plan: scaled?.plan ?? plan)
      eighths = scaled?.eighths ?? 8
    }
    self.eighths = eighths
    let delivered = size.reduced(toEighths: eighths)
    let (transform, converted) = metadata.conversion(
      of: SRGBConversion.pixels(stored: source, working: working))
    self.metadata = converted
    let conversion = transform.map { [working] transform in
      SRGBConversion(transform, stored: source, working: working, width: delivered.width)
    }

    // All changes of pixels, in order.
    stages = Self.keepingDepth(
      (conversion.map { [$0] } ?? [])
        + (orientation == .upright ? [] : [reorient])
        + filters
        + (!isOpaque && !format.hasAlpha ? [Flatten()] : []))
    sizes = stages.reduce(into: [delivered]) { sizes, stage in sizes.append(stage.size(after: sizes[sizes.count - 1])) }
  }

  var outputSize: PictureSize { sizes[sizes.count - 1] }

  /// Whether rows have become columns.
  var transposes: Bool { stages.count(where: \.transposes) % 2 == 1 }

  /// Whether each output pixel depends on one input pixel, so that few colours remain few.
  var isPointwise: Bool { stages.allSatisfy { $0.movesPixelsOnly || $0.window == .row } }

  /// Bytes that all stages hold together.
  var heldBytes: Int { zip(stages, sizes).reduce(0) { $0 + $1.0.heldBytes(of: $1.1, layout: working) } }

  /// The rows after the last stage, made from those of a source.
  func rows(from source: any RowSource) throws(ImagingError) -> any RowSource {
    var rows = source
    for stage in stages { rows = try stage.rows(from: rows) }
    return rows
  }

  /// Whether a filter makes pictures opaque, and those after it keep them so.
  private static func isOpaque(after filters: [any FilterFunction]) -> Bool {
    guard let last = filters.lastIndex(where: \.makesOpaque) else { return false }
    return filters[(last + 1)...].allSatisfy(\.keepsOpaque)
  }

  /// The same stages, except that those between two that change samples do not round to 8 bits.
  private static func keepingDepth(_ stages: [any RowStage]) -> [any RowStage] {
    guard let first = stages.firstIndex(where: { !$0.movesPixelsOnly }),
      let last = stages.lastIndex(where: { !$0.movesPixelsOnly })
    else { return stages }
    return stages.enumerated().map { index, stage in index > first && index < last ? stage.holding16Bit : stage }
  }
}
