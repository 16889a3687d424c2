/// The stored planes of a picture as a pass reads them: turned, if the first stage turns the picture.
struct PlaneSource {
  let decoder: any PlaneDecoder
  /// The sampling of the planes.
  let chroma: ChromaSampling
  /// The size of the picture, not reduced by the decoder.
  let size: PictureSize
  /// The stages that remain.
  let stages: ArraySlice<any RowStage>
  /// The bytes of turned planes, and those that the remaining stages hold.
  let heldBytes: Int

  /// The planes of a plan; nil when its decoder has none, or they cannot be turned.
  init?(_ plan: PassPlan) {
    guard let decoder = plan.decoder.planeDecoder else { return nil }
    let (pipeline, stored, size) = (plan.pipeline, plan.decoder.chroma, plan.decoder.size)
    guard let turn = pipeline.stages.first.flatMap(Self.turn) else {
      (self.decoder, chroma, self.size, stages, heldBytes) = (
        decoder, stored, size, pipeline.stages[...], pipeline.heldBytes
      )
      return
    }
    guard TurnedPlanes.canTurn(size, to: turn, eighths: pipeline.eighths, chroma: stored) else { return nil }
    self.decoder = TurnedPlanes(decoder, turn, chroma: stored)
    chroma = turn.transposes ? stored.transposed : stored
    self.size = turn.transposes ? size.transposed : size
    stages = pipeline.stages.dropFirst()
    let replaced = pipeline.stages[0].heldBytes(of: pipeline.sizes[0], layout: pipeline.working)
    heldBytes =
      pipeline.heldBytes - replaced + TurnedPlanes.bytes(of: size, eighths: pipeline.eighths, chroma: stored)
  }

  /// The orientation to which a stage turns a picture that it holds; nil for other stages.
  private static func turn(_ stage: any RowStage) -> Orientation? {
    guard let stage = stage as? Reorient, stage.window == .picture else { return nil }
    return stage.orientation
  }

  /// The stages of a recipe after a first one that turns the picture.
  static func stages(of recipe: Recipe) -> ArraySlice<any RowStage> {
    let stages = recipe.filters.map(\.stage)
    return stages.first.flatMap(turn) == nil ? stages[...] : stages.dropFirst()
  }

  /// Whether a result has the sampling of the planes, or 4:2:0: its planes are none of the source's enlarged.
  func reducesChroma(to result: ChromaSampling) -> Bool { [.yuv420, chroma].contains(result) }
}
