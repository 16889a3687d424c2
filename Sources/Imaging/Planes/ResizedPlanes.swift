/// The short road for a JPEG that is resized to a JPEG, not enlarged, and nothing else: the planes of Y, Cb and Cr are resampled as they
/// are stored, chroma to as few samples as are written. Resampling is linear, and so is the way to RGB and back: only
/// what overshoots is limited elsewhere.
struct ResizedPlanes {
  private let decoder: JPEGDecoder
  private let plan: ResamplingPlan
  private let eighths: Int

  /// How many samples may become one. It limits how far chroma is ahead of luma, which waits.
  private static let scales = 1.0...4.0

  /// From which JPEGs the short road leads for a recipe, in words; nil when from none.
  static func explanation(of recipe: Recipe) -> String? {
    guard recipe.filters.count == 1, recipe.filters[0] is Resize else { return nil }
    return """
      shorter, from an upright JPEG of 4:4:4, 4:2:2, 4:4:0 or 4:2:0 to JPEG, if no side is enlarged, or made less than a quarter \
      of what is read: stored planes are resampled
      """
  }

  /// The short road, if it leads from this picture to what is wanted.
  init?(_ decoder: any RowDecoder, pipeline: RowPipeline, format: ImageFormat) {
    guard format == .jpeg, let decoder = decoder as? JPEGDecoder, decoder.planeSharing != nil,
      pipeline.stages.count == 1, let plan = (pipeline.stages[0] as? Resampling)?.plan,
      Self.scales.contains(plan.columns.scale), Self.scales.contains(plan.rows.scale)
    else { return nil }
    self.decoder = decoder
    self.plan = plan
    eighths = pipeline.eighths
  }

  /// Makes the picture.
  func run(to destination: Int32, _ order: EncodingOrder, isCancelled: () -> Bool) throws(ImagingError) {
    try withoutActuallyEscaping(isCancelled) { isCancelled throws(ImagingError) in
      if eighths < 8 { decoder.reduce(toEighths: eighths) }
      let reader = try PlaneReader(decoder, isCancelled: isCancelled)
      let result = PlaneBand(width: order.info.width, sharing: order.chroma.forOutput(quality: order.quality))
      let stored = result.planes.indices.map { PlaneRows(reader, plane: $0, sharing: result.planes[$0].sharing) }
      let rows = plan.rows(from: [stored[0]]) + plan.shared(result.planes[1].sharing).rows(from: Array(stored[1...]))
      let encoder = try JPEGEncoder(destination, order, planes: true)
      for top in stride(from: 0, to: order.info.height, by: PlaneBand.lumaRows) {
        for (rows, plane) in zip(rows, result.planes) { try Self.fill(plane, from: rows, top: top) }
        try encoder.writeBlocks(from: result, rows: min(order.info.height - top, PlaneBand.lumaRows))
      }
      try reader.finish()
      try encoder.finish(isCancelled: isCancelled)
    }
  }

  private static func fill(_ plane: PlaneBand.Plane, from rows: any RowSource, top: Int) throws(ImagingError) {
    let buffer = RowBuffer(width: rows.size.width, layout: rows.layout)
    let count = min(plane.count, rows.size.height - top / plane.sharing.vertical)
    for index in 0..<count {
      try rows.read(into: buffer.row)
      buffer.row.packGrey(plane.row(index))
    }
    plane.extend(width: rows.size.width, height: count)
  }
}
