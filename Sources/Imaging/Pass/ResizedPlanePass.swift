/// The fast path for a JPEG that is only resized, not enlarged, to a JPEG: resamples the planes of Y, Cb and Cr as they are
/// stored, chroma to the sampling of the result. Resampling is linear, as are the conversions to RGB and back; only
/// overshoots are clamped at a different stage.
struct ResizedPlanePass: PassStrategy {
  private let source: PlaneSource
  private let encoder: any PlaneEncoder.Type
  private let settings: EncodeSettings
  private let resampling: ResamplingPlan
  private let eighths: Int
  private let preview: PreviewScale?

  /// The supported numbers of input samples per output sample. Limits the chroma rows that are buffered while luma is
  /// read.
  private static let scales = 1.0...4.0

  init?(_ plan: PassPlan) {
    guard let encoder = plan.encoder.planeEncoder, let source = PlaneSource(plan), source.stages.count == 1,
      let resampling = source.stages.first?.resampling?(plan.pipeline.sizes[source.stages.startIndex]),
      Self.scales.contains(resampling.columns.scale), Self.scales.contains(resampling.rows.scale),
      source.reducesChroma(to: plan.settings.chroma)
    else { return nil }
    self.source = source
    self.encoder = encoder
    self.resampling = resampling
    settings = plan.settings
    preview = plan.preview
    eighths = plan.pipeline.eighths
  }

  /// What the source and the stage hold, and queues of rows. The planes are read at different paces: each holds the
  /// rows that the decoder has delivered while another is read, at most the rows of a band, those of the kernel on
  /// both sides of it, and those that two planes read ahead, chroma twice as many. A decoder that reduces a picture
  /// may deliver chroma in the size of luma.
  var heldBytes: Int {
    let width = (source.size.width * eighths + 7) / 8
    let rows =
      Int((Double(PlaneBand.lumaRows + 2 * Self.kernelRows) * resampling.rows.scale).rounded(.up))
      + 4 * ResampledPlane.groupRows
    let delivered = eighths < 8 ? .yuv444 : source.chroma
    return [.yuv444, delivered, delivered].reduce(source.heldBytes) { bytes, sampling in
      bytes
        + PlaneRingBuffer.bytes(
          width: (width + sampling.horizontal - 1) / sampling.horizontal, blockRows: Self.blockRows,
          holding: rows / sampling.vertical)
    }
  }

  /// Rows of the result on each side of one that its kernel covers, in luma: chroma may have half as many.
  private static let kernelRows = 8

  /// The most rows of a row of blocks.
  private static let blockRows = 16

  static func explanation(of recipe: Recipe) -> String? {
    let stages = PlaneSource.stages(of: recipe)
    guard stages.count == 1, stages.first?.resampling != nil else { return nil }
    return """
      faster, from a JPEG of 4:4:4, 4:2:2, 4:4:0 or 4:2:0 to JPEG, if no side is enlarged, or reduced to less than \
      a quarter: the stored planes are resampled
      """
  }

  func run(to destination: Int32, isCancelled: () -> Bool) throws(ImagingError) -> [UInt8]? {
    let (width, height) = (settings.info.width, settings.info.height)
    return try withoutActuallyEscaping(isCancelled) { isCancelled throws(ImagingError) -> [UInt8]? in
      if eighths < 8 { source.decoder.reduce(toEighths: eighths) }
      let reader = try PlaneReader(source.decoder, isCancelled: isCancelled)
      let result = PlaneBand(width: width, sampling: settings.chroma)
      let preview = preview.map { PlanePreview($0, of: settings.info.size, passing: result) }
      let chroma = resampling.subsampled(settings.chroma)
      let planes =
        ResampledPlane.make(reader, planes: 0..<1, resampling) + ResampledPlane.make(reader, planes: 1..<3, chroma)
      let encoder = try encoder.init(planesTo: destination, settings)
      for top in stride(from: 0, to: height, by: PlaneBand.lumaRows) {
        for (plane, band) in zip(planes, result.planes) { try plane.read(into: band) }
        preview?.add(result)
        try encoder.writeBlocks(from: result, rows: min(height - top, PlaneBand.lumaRows))
      }
      try reader.finish()
      try encoder.finish(isCancelled: isCancelled)
      return preview?.finish()
    }
  }
}
