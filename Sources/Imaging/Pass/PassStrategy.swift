/// A way to carry out a pass: `RowPass`, or one of `ImagePass.strategies`.
protocol PassStrategy: SendableMetatype {
  /// Prepares a pass; nil when this strategy cannot carry it out.
  init?(_ plan: PassPlan)

  /// Describes, for `--explain`, when this strategy is used for a recipe; nil when it is not used or not worth mentioning.
  static func explanation(of recipe: Recipe) -> String?

  /// The bytes of the whole picture that are held between decoder and encoder.
  var heldBytes: Int { get }

  /// Decodes, filters and encodes.
  /// - Returns: The preview, if the plan has one; nil also when it could not be made.
  func run(to destination: Int32, isCancelled: () -> Bool) throws(ImagingError) -> [UInt8]?
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

  /// The memory and pixels that the pass needs.
  /// - Parameter strategy: The strategy that carries it out.
  func demand(_ strategy: any PassStrategy) -> PassDemand {
    let pixels = ([decoder.size] + pipeline.sizes).map { $0.width * $0.height }.max() ?? 0
    let held = decoder.wholePictureBytes + strategy.heldBytes + encoder.wholePictureBytes(settings)
    return PassDemand(heldBytes: held, pixels: pixels)
  }
}
