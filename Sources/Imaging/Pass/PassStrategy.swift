/// A way to carry out a pass: `RowPass`, or one of `ImagePass.strategies`.
protocol PassStrategy: SendableMetatype {
  /// Prepares a pass; nil when this strategy cannot carry it out.
  init?(_ plan: PassPlan)

  /// Describes, for `--explain`, when this strategy is used for a recipe; nil when it is not used or not worth mentioning.
  static func explanation(of recipe: Recipe) -> String?

  /// The bytes that the strategy holds besides those of the plan: queues of rows. Default: 0.
  var queuedBytes: Int { get }

  /// Decodes, filters and encodes.
  /// - Returns: The preview, if the plan has one; nil also when it could not be made.
  func run(to destination: Int32, isCancelled: () -> Bool) throws(ImagingError) -> [UInt8]?
}

extension PassStrategy {
  var queuedBytes: Int { 0 }
}

/// The plan of a pass, known before the first row.
struct PassPlan {
  /// The decoder, with the header read.
  let decoder: any RowDecoder
  /// The stages between decoder and encoder.
  let pipeline: RowPipeline
  let encoder: any RowEncoder.Type
  let settings: EncodeSettings
  /// The size of an additional preview; nil for none.
  let preview: PreviewScale?

  /// The bytes of the whole picture that are held.
  var heldBytes: Int { decoder.wholePictureBytes + pipeline.heldBytes + encoder.wholePictureBytes(settings) }

  /// Whether the result has the chroma sampling of the source, or 4:2:0: its planes are none of the source's enlarged.
  var reducesChroma: Bool { [.yuv420, decoder.chroma].contains(settings.chroma) }

  /// The memory and pixels that the pass needs.
  /// - Parameter strategy: The strategy that carries it out.
  func demand(_ strategy: any PassStrategy) -> PassDemand {
    let pixels = ([decoder.size] + pipeline.sizes).map { $0.width * $0.height }.max() ?? 0
    return PassDemand(heldBytes: heldBytes + strategy.queuedBytes, pixels: pixels)
  }
}
