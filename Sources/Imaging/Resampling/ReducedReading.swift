/// Reading a picture at a part of its size, which some decoders do in a fraction of the time, when it is to be resized
/// anyway: the resampling then begins with what the decoder delivers.
struct ReducedReading {
  /// Eighths of each side that the decoder delivers, 1…7.
  let eighths: Int
  /// What becomes of the reduced picture, turned upright: what would have become of the whole one.
  let plan: ResamplingPlan

  /// How much larger than the result the decoder's picture must be, so that what the decoder does to the finest detail is
  /// beneath what the result can show. The fewer coefficients of a block are left, the more is done.
  static func oversampling(of eighths: Int) -> Double { eighths >= 4 ? 1.2 : 2 }

  /// The smallest of some reductions that serves a plan; nil when none does.
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
