import Imaging

/// What is to be done with a picture: by this process, or as the message in which a worker is sent it.
package struct DecodingTask: Sendable {
  package enum Work: Sendable {
    /// The header is read.
    case probe
    /// The picture is decoded, filtered and encoded.
    case filter(Recipe, OutputOptions)
  }

  package let work: Work
  package let maxPixels: Int
  package let minPixels: Int

  init(_ work: Work, limits: ImageLimits) {
    self.work = work
    (maxPixels, minPixels) = (limits.maxPixels, limits.minPixels)
  }

  /// Whether something is written.
  package var hasResult: Bool { if case .filter = work { true } else { false } }

  /// Does it.
  /// - Parameters:
  ///   - source: A descriptor that is open for reading.
  ///   - result: A descriptor that is open for writing; not used by `probe`.
  ///   - memory: Keeps blocks of memory for the next picture.
  ///   - reserve: Grants the memory of whole pictures.
  /// - Throws: `ImagingError` of any code.
  package func perform(
    from source: Int32, to result: Int32, memory: WholePictureMemory, isCancelled: () -> Bool = { false },
    reserve: ImagePass.Reserve
  ) throws(ImagingError) -> ImagePassResult {
    var limits = ImageLimits(maxPixels: maxPixels, memory: memory)
    limits.minPixels = minPixels
    switch work {
    case .probe:
      let picture = try ImageInfo.probe(source, limits: limits)
      return ImagePassResult(source: picture, output: picture)
    case .filter(let recipe, let options):
      let pass = ImagePass(recipe: recipe, options: options, limits: limits)
      return try pass.run(from: source, to: result, isCancelled: isCancelled, reserve: reserve)
    }
  }

  /// Whether a result can be that of this task, as far as limits and options tell.
  func allows(_ result: ImagePassResult) -> Bool {
    guard [result.source, result.output].allSatisfy({ $0.width * $0.height <= maxPixels }) else { return false }
    switch work {
    case .probe: return result.source == result.output
    case .filter(_, let options): return result.output.format == options.format ?? result.source.format
    }
  }
}

// MARK: The message

extension DecodingTask {
  /// The message for a worker.
  var message: [UInt8] {
    var writer = MessageWriter()
    writer.write(maxPixels)
    writer.write(minPixels)
    switch work {
    case .probe: writer.writeByte(0)
    case .filter(let recipe, let options):
      writer.writeByte(1)
      writer.writeByte(UInt8(options.quality))
      writer.writeByte(index(of: options.metadata, in: MetadataPolicy.allCases))
      writer.writeByte(options.format.map { index(of: $0, in: ImageFormat.allCases) + 1 } ?? 0)
      writer.writeRest(recipe.description)
    }
    return writer.bytes
  }

  /// Reads a message; nil when it is none.
  /// - Parameter recipe: Parses a recipe.
  init?(_ message: [UInt8], recipe: (String) -> Recipe?) {
    var reader = MessageReader(message)
    guard let maxPixels = reader.integer(in: 0...Int.max), let minPixels = reader.integer(in: 0...Int.max),
      let kind = reader.byte()
    else { return nil }
    (self.maxPixels, self.minPixels) = (maxPixels, minPixels)
    guard kind == 1 else {
      work = .probe
      return
    }
    let formats = [ImageFormat?.none] + ImageFormat.allCases
    guard let quality = reader.byte(), let metadata = reader.member(of: MetadataPolicy.allCases),
      let format = reader.member(of: formats), let recipe = recipe(reader.restText())
    else { return nil }
    work = .filter(recipe, OutputOptions(format: format, quality: Int(quality), metadata: metadata))
  }
}

/// The place of a value in a list that has it and is short.
func index<Value: Equatable>(of value: Value, in list: [Value]) -> UInt8 {
  UInt8(list.firstIndex(of: value) ?? 0)
}
