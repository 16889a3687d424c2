/// The stage that resamples by a plan that is already made.
struct Resampling: RowStage {
  let plan: ResamplingPlan

  let window = RowWindow.rows(heldRows)

  /// Enough for a kernel of six rows, one because of rounding, and one that comes; and for what becomes of columns.
  static let heldRows = ScatteredRows.maxSums + 1 + WeightedColumns.heldRows

  func size(after size: PictureSize) -> PictureSize { plan.size }
  func rows(from source: any RowSource) -> any RowSource { plan.rows(from: source) }
}
