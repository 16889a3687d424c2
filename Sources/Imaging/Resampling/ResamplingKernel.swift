import Foundation

/// The weight of samples by their distance from the output sample.
enum ResamplingKernel {
  /// A sinc windowed by the main lobe of another: sinc(x) · sinc(x / 3) for |x| < 3 (Duchon 1979), as in Pillow and
  /// libvips.
  case lanczos3
  /// A normal distribution, cut off at three standard deviations.
  case gaussian(deviation: Double)

  /// The distance from which on weights are 0.
  var support: Double {
    switch self {
    case .lanczos3: 3
    case .gaussian(let deviation): (3 * deviation).rounded(.up) + 0.5
    }
  }

  /// Writes `count` weights: the first at `distance`, each of the others a step further; all within the support. They are
  /// not normalised.
  func fill(_ weights: UnsafeMutablePointer<Double>, count: Int, from distance: Double, step: Double) {
    switch self {
    case .lanczos3: Self.lanczos3(weights, count, .pi / 3 * distance, .pi / 3 * step)
    case .gaussian(let deviation):
      for index in 0..<count {
        let distance = distance + Double(index) * step
        weights[index] = exp(-distance * distance / (2 * deviation * deviation))
      }
    }
  }

  /// sin(3α) / (3α) · sin(α) / α, where sin(3α) = 3 sin(α) − 4 sin³(α). Sine and cosine are computed incrementally by the
  /// addition theorems: for small pictures library calls would take longer than the samples.
  private static func lanczos3(
    _ weights: UnsafeMutablePointer<Double>, _ count: Int, _ first: Double, _ step: Double
  ) {
    let (stepSine, stepCosine) = (sin(step), cos(step))
    var (sine, cosine) = (sin(first), cos(first))
    for index in 0..<count {
      let angle = first + Double(index) * step
      let square = sine * sine
      weights[index] = angle.magnitude < 1e-6 ? 1 : (3 - 4 * square) * square / (3 * angle * angle)
      (sine, cosine) = (sine * stepCosine + cosine * stepSine, cosine * stepCosine - sine * stepSine)
    }
  }
}
