/// Decode, filter and encode in one pass over the rows of a picture: memory is proportional to the rows that the recipe's
/// stages need at once, except for pictures that are stored in several scans, interlaced or turned, and for WebP.
package struct ImagePass: Sendable {
  private let recipe: Recipe
  private let options: OutputOptions
  private let limits: ImageLimits

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
    let decoder = try RowDecoders.open(source, limits: limits)
    let format = options.format ?? decoder.info.format
    let pipeline = RowPipeline(recipe: recipe, source: decoder, format: format)
    for size in pipeline.sizes.dropFirst() { try limits.check(size, of: .result) }
    let order = order(for: decoder, pipeline, format)
    let bytes = decoder.wholePictureBytes + pipeline.heldBytes + RowEncoders.wholePictureBytes(order)
    let share = try limits.memory.share(bytes, for: decoder.info, isCancelled: isCancelled)
    defer { withExtendedLifetime(share) {} }
    if let planes = PlanePass(decoder, pipeline: pipeline, format: format) {
      try planes.run(to: destination, order, isCancelled: isCancelled)
    } else if let planes = ResizedPlanes(decoder, pipeline: pipeline, format: format) {
      try planes.run(to: destination, order, isCancelled: isCancelled)
    } else {
      try run(decoder, pipeline, to: destination, order, isCancelled: isCancelled)
    }
    return ImagePassResult(source: decoder.info, output: order.info)
  }

  private func order(for decoder: any RowDecoder, _ pipeline: RowPipeline, _ format: ImageFormat) -> EncodingOrder {
    let size = pipeline.outputSize
    var metadata = decoder.metadata.kept(options.metadata, size: size)
    if pipeline.convertsColour { metadata = metadata.withoutColour }
    metadata = metadata.withoutMisfits(isGrey: pipeline.output.isGrey)
    return EncodingOrder(
      info: ImageInfo(format: format, width: size.width, height: size.height), layout: pipeline.output,
      quality: options.quality, chroma: pipeline.exchangesSides ? decoder.chroma.turned : decoder.chroma,
      hasFewColours: decoder.hasFewColours && pipeline.keepsPixelsApart, isLossless: decoder.isLossless,
      metadata: pipeline.exchangesSides ? metadata.turned : metadata)
  }

  /// The road that leads from everything to everything: rows of floats.
  private func run(
    _ decoder: any RowDecoder, _ pipeline: RowPipeline, to destination: Int32, _ order: EncodingOrder,
    isCancelled: () -> Bool
  ) throws(ImagingError) {
    try withoutActuallyEscaping(isCancelled) { isCancelled throws(ImagingError) in
      let decoded = try DecodedRows(
        decoder, eighths: pipeline.eighths, layout: pipeline.working, isCancelled: isCancelled)
      let rows = try pipeline.rows(from: decoded)
      let encoder = try RowEncoders.open(destination, order)
      let buffer = RowBuffer(width: rows.size.width, layout: rows.layout)
      for index in 0..<rows.size.height {
        if index % DecodedRows.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
        try rows.read(into: buffer.row)
        try encoder.write(buffer.row)
      }
      try decoded.finish()
      try encoder.finish(isCancelled: isCancelled)
    }
  }
}
