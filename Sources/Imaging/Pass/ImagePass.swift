/// Decodes, filters and encodes in one pass over the rows of a picture. Memory is proportional to the rows that the stages
/// need at a time, except for pictures that are interlaced, have several scans or are rotated, and for WebP.
package struct ImagePass: Sendable {
  private let recipe: Recipe
  private let options: OutputOptions
  private let limits: ImageLimits
  private let previewThreshold: Int

  /// The strategies that are faster than `RowPass`, which can carry out every pass; the first that can carry out a pass is
  /// used.
  static let strategies: [any PassStrategy.Type] = [
    StoredPlanePass.self,
    ResizedPlanePass.self,
  ]

  /// Creates a pass, which can be run for any number of pictures.
  /// - Parameter previewThreshold: Results of more pixels get a preview. Default: none does.
  package init(
    recipe: Recipe, options: OutputOptions = OutputOptions(), limits: ImageLimits = ImageLimits(),
    previewThreshold: Int = .max
  ) {
    self.recipe = recipe
    self.options = options
    var limits = limits
    limits.damaged = options.damaged
    self.limits = limits
    self.previewThreshold = previewThreshold
  }

  /// Grants the memory that a pass needs, before anything is decoded.
  /// - Throws: `image-too-large`, `cancelled`.
  package typealias Reserve = (PassDemand) throws(ImagingError) -> Void

  /// Processes one picture.
  ///
  /// `source` must be seekable and is read from its beginning; `destination` is written from its offset on. Neither is
  /// closed, and both must be open until the pass returns. When it returns all bytes have been written to the system, not
  /// synced; when it throws, the contents of the destination are undefined. `isCancelled` is called every few rows; when it
  /// returns true the pass throws `cancelled`.
  /// - Throws: `ImagingError` of any code.
  package func run(
    from source: Int32, to destination: Int32, isCancelled: () -> Bool = { false }
  ) throws(ImagingError) -> ImagePassResult {
    try run(from: source, to: destination, isCancelled: isCancelled) { plan, demand throws(ImagingError) in
      try limits.memory.share(demand.heldBytes, for: plan.decoder.size, isCancelled: isCancelled)
    }
  }

  /// Processes one picture, with memory that the caller grants instead of the limits' budget.
  /// - Throws: `ImagingError` of any code.
  package func run(
    from source: Int32, to destination: Int32, isCancelled: () -> Bool = { false }, reserve: Reserve
  ) throws(ImagingError) -> ImagePassResult {
    try run(from: source, to: destination, isCancelled: isCancelled) { _, demand throws(ImagingError) in
      try reserve(demand)
      return nil
    }
  }

  private func run(
    from source: Int32, to destination: Int32, isCancelled: () -> Bool,
    share: (PassPlan, PassDemand) throws(ImagingError) -> WholePictureMemory.Share?
  ) throws(ImagingError) -> ImagePassResult {
    if isCancelled() { throw .cancelled }
    let decoder = try ImageFormat.open(source, limits: limits)
    let plan = try plan(for: decoder, format: options.format ?? decoder.info.format.resultFormat)
    let pass = Self.strategy(for: plan)
    let share = try share(plan, plan.demand(pass))
    defer { withExtendedLifetime(share) {} }
    let preview = try pass.run(to: destination, isCancelled: isCancelled)
    return ImagePassResult(
      source: decoder.info, output: plan.settings.info, damage: decoder.damage, preview: preview)
  }

  /// The way in which a pass is carried out.
  static func strategy(for plan: PassPlan) -> any PassStrategy {
    for strategy in strategies {
      if let pass = strategy.init(plan) { return pass }
    }
    return RowPass(plan)
  }

  /// Plans the pass for the picture of a decoder.
  /// - Throws: `image-too-large` when a stage's result exceeds the limits, `unsupported-format` when the format is only
  ///   read.
  func plan(for decoder: any RowDecoder, format: ImageFormat) throws(ImagingError) -> PassPlan {
    guard let encoder = format.encoder else {
      throw ImagingError(
        code: .unsupportedFormat, message: "\(format.displayName) is not a format that can be written")
    }
    let pipeline = RowPipeline(recipe: recipe, source: decoder, format: format)
    for size in pipeline.sizes.dropFirst() { try limits.check(size, of: .result) }
    let settings = settings(for: decoder, pipeline, format)
    return PassPlan(
      decoder: decoder, pipeline: pipeline, encoder: encoder, settings: settings,
      preview: PreviewScale(of: settings.info, from: previewThreshold))
  }

  private func settings(
    for decoder: any RowDecoder, _ pipeline: RowPipeline, _ format: ImageFormat
  ) -> EncodeSettings {
    let size = pipeline.outputSize
    var metadata = pipeline.metadata.kept(options.metadata, size: size)
    // A profile for grey does not apply to a coloured result.
    if pipeline.output.isGrey != decoder.layout.isGrey { metadata = metadata.withoutProfile }
    let stored = pipeline.transposes ? decoder.chroma.transposed : decoder.chroma
    return EncodeSettings(
      info: ImageInfo(format: format, width: size.width, height: size.height), layout: pipeline.output,
      quality: options.quality, chroma: options.chroma?.sampling ?? stored.forOutput(quality: options.quality),
      jpegCoding: options.jpegCoding, pngPalette: options.pngPalette,
      hasFewColours: decoder.hasFewColours && pipeline.isPointwise,
      isLossless: decoder.isLossless, metadata: pipeline.transposes ? metadata.transposed : metadata)
  }
}

/// The pictures that a pass read and wrote.
package struct ImagePassResult: Sendable, Equatable {
  package let source: ImageInfo
  package let output: ImageInfo
  /// Damage of the source that did not prevent its decoding; nil without any.
  package let damage: PictureDamage?
  /// A small JPEG of the result; nil when there is none.
  package var preview: [UInt8]?

  package init(source: ImageInfo, output: ImageInfo, damage: PictureDamage? = nil, preview: [UInt8]? = nil) {
    (self.source, self.output, self.damage, self.preview) = (source, output, damage, preview)
  }
}

/// The memory and pixels that a pass needs, known before anything is decoded.
package struct PassDemand: Sendable, Equatable {
  /// Bytes that are held of whole pictures, or of rows between stages; 0 for passes that change one row.
  package let heldBytes: Int
  /// The pixels of the largest picture between the source and the result.
  package let pixels: Int

  package init(heldBytes: Int, pixels: Int) { (self.heldBytes, self.pixels) = (heldBytes, pixels) }
}
