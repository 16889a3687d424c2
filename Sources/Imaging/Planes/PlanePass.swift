/// The short road from JPEG to JPEG: the planes of Y, Cb and Cr as they are stored, neither enlarged nor converted.
///
/// For recipes that are affine in colour, and the usual samplings (4:4:4, 4:2:2, 4:4:0, 4:2:0). Chroma that pixels share
/// is interpolated only where it changes much, so where it is shared the recipe must not make much of it.
struct PlanePass {
  private let decoder: JPEGDecoder
  private let kernel: PlaneKernel
  private let sharing: ChromaSampling

  /// The largest gain of shared chroma, whatever the picture's colours; decision 0011 says how near the results come.
  private static let maxChromaGain = 0.5

  /// From which JPEGs to JPEG the short road leads for a recipe, in words; nil when from none.
  static func explanation(of recipe: Recipe) -> String? {
    let affine = recipe.filters.compactMap(\.stage.affine)
    let stages = AffineColour.merged(affine)
    guard affine.count == recipe.filters.count, PlaneKernel(stages) != nil else { return nil }
    let samplings = takesShared(stages) ? "4:4:4, 4:2:2, 4:4:0 or 4:2:0" : "4:4:4"
    return "shorter, from an upright JPEG of \(samplings) to JPEG: the filters as one step on stored planes"
  }

  private static func takesShared(_ stages: [AffineColour]) -> Bool {
    stages.map(\.chromaGain).reduce(1, *) <= maxChromaGain
  }

  /// The short road, if it leads from this picture to what is wanted.
  init?(_ decoder: any RowDecoder, pipeline: RowPipeline, format: ImageFormat) {
    guard format == .jpeg, let decoder = decoder as? JPEGDecoder, let sharing = decoder.planeSharing else { return nil }
    let affine = pipeline.stages.compactMap(\.affine)
    let stages = AffineColour.merged(affine)
    guard affine.count == pipeline.stages.count, let kernel = PlaneKernel(stages),
      sharing == .full || Self.takesShared(stages)
    else { return nil }
    self.decoder = decoder
    self.sharing = sharing
    self.kernel = kernel
  }

  /// Makes the picture.
  func run(
    to destination: Int32, _ order: EncodingOrder, isCancelled: () -> Bool
  ) throws(ImagingError) {
    let (width, height) = (order.info.width, order.info.height)
    let kept = sharing.forOutput(quality: order.quality)
    // Three in turn: chroma is interpolated with rows of the bands above and below.
    let bands = (0..<3).map { _ in PlaneBand(width: width, sharing: sharing) }
    let result = PlaneBand(width: width, sharing: kept)
    try decoder.startPlanes(isCancelled: isCancelled)
    let encoder = try JPEGEncoder(destination, order, planes: true)
    let tops = Array(stride(from: 0, to: height, by: PlaneBand.lumaRows))
    try read(bands[0], width: width, rows: min(height, PlaneBand.lumaRows))
    for (index, top) in tops.enumerated() {
      if isCancelled() { throw .cancelled }
      let (band, below) = (bands[index % 3], index + 1 < tops.count ? bands[(index + 1) % 3] : nil)
      if let below { try read(below, width: width, rows: min(height - tops[index + 1], PlaneBand.lumaRows)) }
      band.surround(above: index > 0 ? bands[(index + 2) % 3] : nil, below: below)
      for row in stride(from: 0, to: PlaneBand.lumaRows, by: 2) { kernel.apply(to: band, row: row, into: result) }
      try encoder.writeBlocks(from: result, rows: min(height - top, PlaneBand.lumaRows))
    }
    try decoder.finish()
    try encoder.finish(isCancelled: isCancelled)
  }

  private func read(_ band: PlaneBand, width: Int, rows: Int) throws(ImagingError) {
    for row in stride(from: 0, to: rows, by: decoder.planes[0].blockRows) {
      try decoder.readBlocks(into: band.rows(from: row))
    }
    for plane in band.planes {
      plane.extend(
        width: (width + plane.sharing.horizontal - 1) / plane.sharing.horizontal,
        height: (rows + plane.sharing.vertical - 1) / plane.sharing.vertical)
    }
  }
}
