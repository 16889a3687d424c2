import Imaging

/// A picture to decode, filter and encode: in this process, or as a message to a worker.
package struct DecodingTask: Sendable {
  package let recipe: Recipe
  package let options: OutputOptions
  package let maxPixels: Int
  package let minPixels: Int

  /// Results with more pixels than this get a preview.
  package let previewThreshold: Int

  /// - Parameter makesPreviews: Whether large results get a preview. Default: false.
  init(_ recipe: Recipe, _ options: OutputOptions, limits: ImageLimits, makesPreviews: Bool = false) {
    (self.recipe, self.options) = (recipe, options)
    (maxPixels, minPixels) = (limits.maxPixels, limits.minPixels)
    previewThreshold = makesPreviews ? PreviewScale.threshold : .max
  }

  /// Performs the task.
  /// - Parameters:
  ///   - source: A descriptor open for reading.
  ///   - result: A descriptor open for writing.
  ///   - memory: Keeps blocks of memory for the next picture.
  ///   - isConfined: Whether this process is a confined worker. Default: false.
  ///   - reserve: Grants the memory for whole pictures.
  /// - Throws: `ImagingError` of any code.
  package func perform(
    from source: Int32, to result: Int32, memory: WholePictureMemory, isConfined: Bool = false,
    isCancelled: () -> Bool = { false }, reserve: ImagePass.Reserve
  ) throws(ImagingError) -> ImagePassResult {
    var limits = ImageLimits(maxPixels: maxPixels, memory: memory)
    (limits.minPixels, limits.isConfined) = (minPixels, isConfined)
    let pass = ImagePass(recipe: recipe, options: options, limits: limits, previewThreshold: previewThreshold)
    return try pass.run(from: source, to: result, isCancelled: isCancelled, reserve: reserve)
  }

  /// Whether a result is possible for this task, by its limits and options.
  func allows(_ result: ImagePassResult) -> Bool {
    [result.source, result.output].allSatisfy { $0.width * $0.height <= maxPixels }
      && result.output.format == options.format ?? result.source.format.resultFormat
      && (result.damage?.isAccepted != true || options.damaged == .accept)
  }

  /// The preview that a result may have; nil when it has none.
  func preview(of result: ImagePassResult) -> PreviewScale? { PreviewScale(of: result.output, from: previewThreshold) }

  // MARK: The message

  var message: [UInt8] {
    var writer = MessageWriter()
    writer.write(maxPixels)
    writer.write(minPixels)
    writer.write(previewThreshold)
    writer.writeByte(UInt8(options.quality))
    writer.writeByte(options.chroma.map { index(of: $0, in: ChromaChoice.allCases) + 1 } ?? 0)
    writer.writeByte(index(of: options.jpegCoding, in: JPEGCoding.allCases))
    writer.writeByte(index(of: options.pngPalette, in: PNGPalette.allCases))
    writer.writeByte(index(of: options.metadata, in: MetadataPolicy.allCases))
    writer.writeByte(index(of: options.damaged, in: DamagePolicy.allCases))
    writer.writeByte(options.format.map { index(of: $0, in: ImageFormat.allCases) + 1 } ?? 0)
    writer.writeRest(recipe.description)
    return writer.bytes
  }

  /// Reads a message; nil when it is invalid.
  /// - Parameter recipe: Parses a recipe.
  init?(_ message: [UInt8], recipe: (String) -> Recipe?) {
    var reader = MessageReader(message)
    let formats = [ImageFormat?.none] + ImageFormat.allCases
    guard let maxPixels = reader.integer(in: 0...Int.max), let minPixels = reader.integer(in: 0...Int.max),
      let previewThreshold = reader.integer(in: 0...Int.max),
      let quality = reader.byte(), let chroma = reader.member(of: [ChromaChoice?.none] + ChromaChoice.allCases),
      let jpegCoding = reader.member(of: JPEGCoding.allCases),
      let pngPalette = reader.member(of: PNGPalette.allCases),
      let metadata = reader.member(of: MetadataPolicy.allCases),
      let damaged = reader.member(of: DamagePolicy.allCases),
      let format = reader.member(of: formats), let recipe = recipe(reader.restText())
    else { return nil }
    (self.maxPixels, self.minPixels) = (maxPixels, minPixels)
    self.previewThreshold = previewThreshold
    self.recipe = recipe
    options = OutputOptions(
      format: format, quality: Int(quality), chroma: chroma, jpegCoding: jpegCoding, pngPalette: pngPalette,
      metadata: metadata, damaged: damaged)
  }
}

/// The index of a value in a short list that contains it.
func index<Value: Equatable>(of value: Value, in list: [Value]) -> UInt8 {
  UInt8(list.firstIndex(of: value) ?? 0)
}
