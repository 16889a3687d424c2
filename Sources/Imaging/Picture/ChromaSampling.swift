/// The number of luma samples for each chroma sample: 1 × 1 is 4:4:4, 2 × 1 is 4:2:2, 2 × 2 is 4:2:0.
struct ChromaSampling: Equatable, Sendable {
  let horizontal: Int
  let vertical: Int

  /// 4:4:4.
  static let yuv444 = ChromaSampling(horizontal: 1, vertical: 1)
  /// 4:2:0.
  static let yuv420 = ChromaSampling(horizontal: 2, vertical: 2)

  /// Whether there are more chroma samples than in 4:2:0, and in neither direction fewer.
  var isFinerThan420: Bool { horizontal <= 2 && vertical <= 2 && horizontal * vertical < 4 }

  var transposed: ChromaSampling { ChromaSampling(horizontal: vertical, vertical: horizontal) }

  /// The sampling of a JPEG or AVIF written at a quality: 4:2:0, but from quality 90 the source's sampling when it is finer.
  func forOutput(quality: Int) -> ChromaSampling { quality >= 90 && isFinerThan420 ? self : .yuv420 }
}

/// The chroma sampling that is asked for, of formats that have one.
package enum ChromaChoice: String, CaseIterable, Sendable {
  /// 4:2:0.
  case halved = "420"
  /// 4:4:4.
  case full = "444"

  var sampling: ChromaSampling { self == .halved ? .yuv420 : .yuv444 }
}
