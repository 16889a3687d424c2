/// How many luma samples share a chroma sample: 1 × 1 is 4:4:4, 2 × 1 is 4:2:2, 2 × 2 is 4:2:0.
struct ChromaSampling: Equatable, Sendable {
  /// Columns.
  let horizontal: Int
  /// Rows.
  let vertical: Int

  /// 4:4:4.
  static let full = ChromaSampling(horizontal: 1, vertical: 1)
  /// 4:2:0.
  static let quarter = ChromaSampling(horizontal: 2, vertical: 2)

  /// Whether there is more chroma than in 4:2:0, in both directions at least as much.
  var isFinerThanQuarter: Bool { horizontal <= 2 && vertical <= 2 && horizontal * vertical < 4 }

  /// That of the picture turned by a quarter.
  var turned: ChromaSampling { ChromaSampling(horizontal: vertical, vertical: horizontal) }

  /// What a JPEG of some quality gets: 4:2:0, but from quality 90 the source's sampling when it is finer.
  func forOutput(quality: Int) -> ChromaSampling { quality >= 90 && isFinerThanQuarter ? self : .quarter }
}
