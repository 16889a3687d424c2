/// What becomes of a picture between decoder and encoder, decided from the recipe, the source and the output format
/// before the first row.
struct RowPipeline {
  /// The channels of the rows while they pass through the stages.
  let working: PixelLayout
  /// The channels and depth of what is written.
  let output: PixelLayout
  /// The stages in their order.
  var stages: [any RowFilter]

  /// The pipeline of a recipe for a source of some layout.
  init(recipe: Recipe, source: PixelLayout, format: ImageFormat) {
    let keepsGrey = source.isGrey && !recipe.filters.contains { type(of: $0).coloursGrey }
    let hasAlpha = source.hasAlpha || recipe.filters.contains { $0.makesTranslucent }
    working = PixelLayout(isGrey: keepsGrey, hasAlpha: hasAlpha, isDeep: source.isDeep)
    output = PixelLayout(
      isGrey: keepsGrey, hasAlpha: hasAlpha && format.hasAlpha, isDeep: source.isDeep && format.hasDeepSamples)

    // The order of everything that happens to pixels, which `UprightDecoder` delivers upright. Before them comes the
    // conversion to sRGB of what carries another profile. To come: geometry before the filters or in their place.
    stages =
      recipe.filters.map(\.rowFilter)
      + (hasAlpha && !format.hasAlpha ? [LaidOnWhite()] : [])
  }

  /// The pipeline in words.
  static func explanation(of recipe: Recipe) -> [String] {
    var lines = ["decode: a JPEG, PNG or WebP, row by row; alpha apart", "turn upright: only what EXIF says must be"]
    lines.append("convert to sRGB: only what carries another profile")
    for (index, filter) in recipe.filters.enumerated() {
      lines.append("filter \(index + 1): \(type(of: filter).name)(\(filter.argument)), \(type(of: filter).summary)")
    }
    lines.append("lay on white: only what has alpha, and only for JPEG")
    lines.append("encode: in the format and quality asked for; of metadata what --metadata says")
    if let road = PlanePass.explanation(of: recipe) { lines.append(road) }
    return lines
  }
}

extension ImageFormat {
  /// Whether files of the format can have an alpha channel.
  fileprivate var hasAlpha: Bool { self != .jpeg }
  /// Whether files of the format can have 16 bits for a sample.
  fileprivate var hasDeepSamples: Bool { self == .png }
}
