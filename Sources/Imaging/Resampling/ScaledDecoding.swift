/// Decodes a picture at a fraction of its size before resizing, which some decoders do in a fraction of the time, and resamples
/// the rest of the way.
struct ScaledDecoding {
  /// Eighths of each side that the decoder delivers, 1…7.
  let eighths: Int
  /// The plan for the reduced, upright picture that gives the same result as the original plan.
  let plan: ResamplingPlan

  /// The factor by which the decoded picture must be larger than the result, so that the decoder's effect on the finest
  /// detail is below the result's resolution. It grows as fewer coefficients of a block are used.
  static func oversampling(of eighths: Int) -> Double { eighths >= 4 ? 1.2 : 2 }

  /// Chooses the smallest reduction that is sufficient for a plan; nil when none is.
  init?(_ plan: ResamplingPlan, reductions: [Int], orientation: Orientation) {
    let scale = min(plan.columns.scale, plan.rows.scale)
    guard let eighths = reductions.sorted().first(where: { Double($0) * scale >= 8 * Self.oversampling(of: $0) }) else {
      return nil
    }
    self.eighths = eighths
    self.plan = ResamplingPlan(
      columns: plan.columns.reduced(toEighths: eighths, isReversed: orientation.reversesColumns),
      rows: plan.rows.reduced(toEighths: eighths, isReversed: orientation.reversesRows))
  }
}
