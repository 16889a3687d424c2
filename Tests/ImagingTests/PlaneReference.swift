@testable import Imaging

/// The results of `PlaneKernel` by the formula: pixel by pixel, in doubles, without rounding.
struct PlaneReference {
  /// The rows of Y, Cb and Cr.
  let planes: [[[Double]]]

  /// Applies stages to a band, of which the first `width` columns are used.
  init(_ source: PlaneBand, width: Int, stages: [AffineColour], kept: ChromaSampling) {
    let pixels = (0..<PlaneBand.lumaRows).map { row in
      (0..<width).map { column in
        let samples = source.planes.map { Self.interpolated($0, row, column) }
        return stages.reduce(Self.colour(samples)) { Self.limited(Self.passed($0, $1)) }
      }
    }
    planes = [ChromaSampling.yuv444, kept, kept].enumerated().map { index, sampling in
      stride(from: 0, to: PlaneBand.lumaRows, by: sampling.vertical).map { row in
        stride(from: 0, to: width, by: sampling.horizontal).map { column in
          let sharers = (row..<row + sampling.vertical).flatMap { pixels[$0][column..<column + sampling.horizontal] }
          return sharers.map { Self.components($0)[index] }.reduce(0, +) / Double(sharers.count)
        }
      }
    }
  }

  /// The largest difference of a band to the reference, for each plane.
  func distances(of band: PlaneBand) -> [Double] {
    zip(planes, band.planes).map { rows, plane in
      rows.enumerated().flatMap { row, samples in
        samples.enumerated().map { abs($1 - Double(plane.row(row)[$0])) }
      }.max() ?? 0
    }
  }

  /// In each subsampled direction three quarters of the sample and one of its neighbour on the pixel's
  /// side.
  private static func interpolated(_ plane: PlaneBand.Plane, _ row: Int, _ column: Int) -> Double {
    func weights(_ position: Int, _ sampling: Int) -> [(index: Int, weight: Double)] {
      let own = position / sampling
      return sampling == 1 ? [(own, 1)] : [(own, 0.75), (position % 2 == 0 ? own - 1 : own + 1, 0.25)]
    }
    return weights(row, plane.sampling.vertical).flatMap { y in
      weights(column, plane.sampling.horizontal).map { x in
        y.weight * x.weight * Double(plane.row(y.index)[x.index])
      }
    }.reduce(0, +)
  }

  /// Red, green and blue, 0…1: ITU-T T.871 § 7.
  private static func colour(_ samples: [Double]) -> SIMD3<Double> {
    let (luma, blue, red) = (samples[0], samples[1] - 128, samples[2] - 128)
    return limited(
      SIMD3(luma + 1.402 * red, luma - 0.344136286 * blue - 0.714136286 * red, luma + 1.772 * blue) / 255)
  }

  private static func passed(_ colour: SIMD3<Double>, _ stage: AffineColour) -> SIMD3<Double> {
    func sum(_ row: SIMD4<Double>) -> Double { (SIMD4(colour, 1) * row).sum() }
    return SIMD3(sum(stage.red), sum(stage.green), sum(stage.blue))
  }

  private static func limited(_ colour: SIMD3<Double>) -> SIMD3<Double> {
    colour.clamped(lowerBound: .zero, upperBound: .one)
  }

  /// Y, Cb and Cr.
  private static func components(_ colour: SIMD3<Double>) -> [Double] {
    let luma = (SIMD3(0.299, 0.587, 0.114) * colour).sum()
    let (blue, red) = ((colour.z - luma) / 1.772, (colour.x - luma) / 1.402)
    return [255 * luma, 255 * blue + 128, 255 * red + 128]
  }
}
