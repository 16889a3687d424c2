/// The fast path from JPEG to JPEG for recipes that are affine in colour: filters the planes of Y, Cb and Cr as they are
/// stored, neither upsampled nor converted.
///
/// Supports 4:4:4, 4:2:2, 4:4:0 and 4:2:0. Subsampled chroma is interpolated only where neighbours differ much, so recipes
/// must not amplify it.
struct StoredPlanePass: PassStrategy {
  private let source: PlaneSource
  private let encoder: any PlaneEncoder.Type
  private let settings: EncodeSettings
  private let kernel: PlaneKernel
  private let preview: PreviewScale?

  /// The largest gain of subsampled chroma; `Documentation/performance.md` has the resulting error.
  private static let maxChromaGain = 0.5

  init?(_ plan: PassPlan) {
    guard let encoder = plan.encoder.planeEncoder, let source = PlaneSource(plan),
      let maps = Self.maps(of: source.stages), let kernel = PlaneKernel(maps),
      source.chroma == .yuv444 || Self.allowsSubsampling(maps), source.reducesChroma(to: plan.settings.chroma)
    else { return nil }
    self.source = source
    self.encoder = encoder
    self.kernel = kernel
    settings = plan.settings
    preview = plan.preview
  }

  var heldBytes: Int { source.heldBytes }

  static func explanation(of recipe: Recipe) -> String? {
    guard let maps = maps(of: PlaneSource.stages(of: recipe)), PlaneKernel(maps) != nil else { return nil }
    let samplings = allowsSubsampling(maps) ? "4:4:4, 4:2:2, 4:4:0 or 4:2:0" : "4:4:4"
    return "faster, from a JPEG of \(samplings) to JPEG: all filters as one step on the stored planes"
  }

  /// The stages as affine maps; nil when some are not.
  private static func maps(of stages: ArraySlice<any RowStage>) -> [AffineColour]? {
    let maps = stages.compactMap(\.affine)
    return maps.count == stages.count ? AffineColour.merged(maps) : nil
  }

  private static func allowsSubsampling(_ maps: [AffineColour]) -> Bool {
    maps.map(\.chromaGain).reduce(1, *) <= maxChromaGain
  }

  func run(to destination: Int32, isCancelled: () -> Bool) throws(ImagingError) -> [UInt8]? {
    let (width, height) = (settings.info.width, settings.info.height)
    let decoder = source.decoder
    // Three bands in rotation: chroma is interpolated with rows of the bands above and below.
    let bands = (0..<3).map { _ in PlaneBand(width: width, sampling: source.chroma) }
    let result = PlaneBand(width: width, sampling: settings.chroma)
    let preview = preview.map { PlanePreview($0, of: settings.info.size, passing: result) }
    try decoder.startPlanes(isCancelled: isCancelled)
    let blockRows = decoder.planes[0].blockRows
    let encoder = try encoder.init(planesTo: destination, settings)
    let tops = Array(stride(from: 0, to: height, by: PlaneBand.lumaRows))
    func read(_ index: Int) throws(ImagingError) {
      try Self.read(
        bands[index % 3], from: decoder, width: width, rows: min(height - tops[index], PlaneBand.lumaRows),
        blockRows: blockRows)
    }
    try read(0)
    for (index, top) in tops.enumerated() {
      if isCancelled() { throw .cancelled }
      let (band, hasBelow) = (bands[index % 3], index + 1 < tops.count)
      if hasBelow { try read(index + 1) }
      band.surround(
        above: index > 0 ? bands[(index + 2) % 3] : nil, below: hasBelow ? bands[(index + 1) % 3] : nil)
      for row in stride(from: 0, to: PlaneBand.lumaRows, by: 2) { kernel.apply(to: band, row: row, into: result) }
      preview?.add(result)
      try encoder.writeBlocks(from: result, rows: min(height - top, PlaneBand.lumaRows))
    }
    try decoder.finish()
    try encoder.finish(isCancelled: isCancelled)
    return preview?.finish()
  }

  private static func read(
    _ band: PlaneBand, from decoder: any PlaneDecoder, width: Int, rows: Int, blockRows: Int
  ) throws(ImagingError) {
    for row in stride(from: 0, to: rows, by: blockRows) {
      try decoder.readBlocks(into: band.rows(from: row))
    }
    for plane in band.planes {
      plane.extend(
        width: (width + plane.sampling.horizontal - 1) / plane.sampling.horizontal,
        height: (rows + plane.sampling.vertical - 1) / plane.sampling.vertical)
    }
  }
}
