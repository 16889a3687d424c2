/// Decode, filter and encode in one pass over the rows of a picture: memory is proportional to a row, except for
/// pictures that are stored in several scans, interlaced or turned, and for WebP.
package struct ImagePass: Sendable {
  private let recipe: Recipe
  private let options: OutputOptions
  private let limits: ImageLimits

  /// Rows between two looks at `isCancelled`.
  private static let rowsBetweenChecks = 8

  /// A pass for any number of pictures.
  package init(recipe: Recipe, options: OutputOptions = OutputOptions(), limits: ImageLimits = ImageLimits()) {
    self.recipe = recipe
    self.options = options
    self.limits = limits
  }

  /// Makes one picture of another.
  ///
  /// `source` must be seekable and is read from its beginning; `destination` is written from its offset on. Neither is
  /// closed, and both must be open until the pass returns. When it returns all bytes have been handed to the system, not
  /// synced; when it throws, the destination holds anything. `isCancelled` is called every few rows; when it returns
  /// true the pass throws `cancelled`.
  /// - Throws: `ImagingError` of any code.
  package func run(
    from source: Int32, to destination: Int32, isCancelled: () -> Bool = { false }
  ) throws(ImagingError) -> ImagePassResult {
    if isCancelled() { throw .cancelled }
    let stored = try RowDecoders.open(source, limits: limits)
    let orientation = stored.metadata.orientation
    let decoder = orientation == .upright ? stored : UprightDecoder(stored, orientation)
    let format = options.format ?? decoder.info.format
    var pipeline = RowPipeline(recipe: recipe, source: decoder.layout, format: format)
    let conversion = ToSRGB(
      decoder.metadata.colour, stored: decoder.layout, working: pipeline.working, width: decoder.info.width)
    if let conversion { pipeline.stages.insert(conversion, at: 0) }
    let output = ImageInfo(format: format, width: decoder.info.width, height: decoder.info.height)
    let becameColoured = decoder.layout.isGrey && !pipeline.working.isGrey
    let kept = decoder.metadata.kept(options.metadata)
    let metadata = conversion == nil ? kept : kept.withoutColour
    let order = EncodingOrder(
      info: output, layout: pipeline.output, quality: options.quality, chroma: decoder.chroma,
      hasFewColours: decoder.hasFewColours, isLossless: decoder.isLossless,
      metadata: becameColoured ? metadata.withoutGreyProfiles() : metadata)
    let share = try limits.memory.share(
      decoder.wholePictureBytes + RowEncoders.wholePictureBytes(order), for: stored.info, isCancelled: isCancelled)
    defer { withExtendedLifetime(share) {} }
    if let planes = PlanePass(decoder, pipeline: pipeline, format: format) {
      try planes.run(to: destination, order, isCancelled: isCancelled)
    } else {
      try run(decoder, pipeline, to: destination, order, isCancelled: isCancelled)
    }
    return ImagePassResult(source: stored.info, output: output)
  }

  /// The road that leads from everything to everything: rows of floats.
  private func run(
    _ decoder: any RowDecoder, _ pipeline: RowPipeline, to destination: Int32, _ order: EncodingOrder,
    isCancelled: () -> Bool
  ) throws(ImagingError) {
    let output = order.info
    try decoder.start(colour: !pipeline.working.isGrey, isCancelled: isCancelled)
    let encoder = try RowEncoders.open(destination, order)
    let buffer = RowBuffer(width: output.width, layout: pipeline.working)
    for index in 0..<output.height {
      if index % Self.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
      try decoder.read(into: buffer.row)
      for stage in pipeline.stages { stage.apply(to: buffer.row) }
      try encoder.write(buffer.row)
    }
    try decoder.finish()
    try encoder.finish(isCancelled: isCancelled)
  }
}
