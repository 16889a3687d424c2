/// An affine map of red, green and blue, each 0…1: three rows of coefficients for red, green, blue and 1.
package struct AffineColour: Equatable, Sendable {
  /// The rows that compute red, green and blue.
  let red, green, blue: SIMD4<Double>

  static let identity = AffineColour(red: [1, 0, 0, 0], green: [0, 1, 0, 0], blue: [0, 0, 1, 0])

  var rows: [SIMD4<Double>] { [red, green, blue] }

  /// Whether every colour within 0…1 stays within, so that clamping has no effect.
  var staysInUnit: Bool {
    rows.map(Self.range).allSatisfy { Self.unit.contains($0.lowerBound) && Self.unit.contains($0.upperBound) }
  }

  /// 0…1, widened by the rounding error of coefficients.
  static let unit = -1e-6...1 + 1e-6

  /// The range of a row's result over colours within 0…1.
  static func range(of row: SIMD4<Double>) -> ClosedRange<Double> {
    let factors = [row.x, row.y, row.z]
    let lowest = factors.filter { $0 < 0 }.reduce(row.w, +)
    return lowest...factors.filter { $0 > 0 }.reduce(row.w, +)
  }

  /// Rows of the matrix from Y, Cb − 128 and Cr − 128 to red, green and blue (ITU-T T.871 § 7).
  static let fromYCbCr: [SIMD3<Double>] = [[1, 0, 1.402], [1, -0.344136286, -0.714136286], [1, 1.772, 0]]

  /// The same map for Y, Cb − 128, Cr − 128, as rows of coefficients for these and 1; all samples 0…255.
  var inYCbCr: (rgb: [SIMD4<Double>], ycc: [SIMD4<Double>]) {
    let rgb = rows.map { row in
      let linear = Self.fromYCbCr[0] * row.x + Self.fromYCbCr[1] * row.y + Self.fromYCbCr[2] * row.z
      return SIMD4<Double>(linear, row.w * 255)
    }
    let luma = rgb[0] * 0.299 + rgb[1] * 0.587 + rgb[2] * 0.114
    return (rgb, [luma, (rgb[2] - luma) * (0.5 / 0.886), (rgb[0] - luma) * (0.5 / 0.701)])
  }

  /// How strongly the result depends on chroma: the greater gain of Cb and Cr plus twice that of Y, because luma has full
  /// resolution. 0.3 for `sepia(0.8)`, 0.49 for `grayscale(1)`, 1 for `invert(1)`.
  var chromaGain: Double {
    let gains = inYCbCr.ycc.map { ($0.y * $0.y + $0.z * $0.z).squareRoot() }
    return 2 * gains[0] + max(gains[1], gains[2])
  }

  /// This map followed by another, without clamping in between.
  func followed(by next: AffineColour) -> AffineColour {
    func row(_ factors: SIMD4<Double>) -> SIMD4<Double> {
      red * factors.x + green * factors.y + blue * factors.z + [0, 0, 0, factors.w]
    }
    return AffineColour(red: row(next.red), green: row(next.green), blue: row(next.blue))
  }

  /// The shortest list of maps that is equivalent to a list of maps applied in turn, each clamped to 0…1 afterwards.
  static func merged(_ maps: [AffineColour]) -> [AffineColour] {
    maps.reduce(into: []) { merged, next in
      if let last = merged.last, last.staysInUnit {
        merged[merged.count - 1] = last.followed(by: next)
      } else {
        merged.append(next)
      }
    }
  }
}
