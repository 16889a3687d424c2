import Foundation

/// How much samples weigh by their distance from the place that is computed.
enum ResamplingKernel {
  /// A sinc within the first lobes of another: sinc(x) · sinc(x / 3) for |x| < 3 (Duchon 1979), as Pillow and libvips
  /// have it.
  case lanczos3
  /// A normal distribution of some standard deviation, cut off at three of them.
  case gaussian(deviation: Double)

  /// The distance from which on samples weigh nothing.
  var support: Double {
    switch self {
    case .lanczos3: 3
    case .gaussian(let deviation): (3 * deviation).rounded(.up) + 0.5
    }
  }

  /// The weight at a distance below the support; not normalised.
  func weight(_ distance: Double) -> Double {
    switch self {
    case .lanczos3: Self.sinc(distance) * Self.sinc(distance / 3)
    case .gaussian(let deviation): exp(-distance * distance / (2 * deviation * deviation))
    }
  }

  private static func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
}
