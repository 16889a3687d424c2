/// The stage that resamples by a plan that is already made.
struct Resampling: RowStage {
  let plan: ResamplingPlan

  /// Enough for a kernel of six rows, one because of rounding, and one that comes.
  let window = RowWindow.rows(ScatteredRows.maxSums + 1)

  func size(after size: PictureSize) -> PictureSize { plan.size }
  func rows(from source: any RowSource) -> any RowSource { plan.rows(from: source) }
}
