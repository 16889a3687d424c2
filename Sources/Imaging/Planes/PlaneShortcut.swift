/// The numbers of the short cut for columns in which nothing clips, neither where it enters nor where it leaves a single
/// stage: then an affine map of red, green and blue is one of Y, Cb and Cr, and the chroma of a result in 4:2:0 is that of
/// the mean of its four pixels.
struct PlaneShortcut {
  /// Four for new luma, for new Cb and for new Cr: `numbers(_:of:plus:)`.
  let numbers: [Int16]

  /// Samples are computed times this.
  static let scale = 16.0

  /// The numbers of a stage; nil when one is too large for 16 bits.
  init?(_ stage: AffineColour) {
    let ycc = stage.inYCbCr.ycc
    let maps = [
      Self.numbers(ycc[0], plus: 0.5), Self.numbers(ycc[1], of: 4, plus: 128.5),
      Self.numbers(ycc[2], of: 4, plus: 128.5),
    ]
    guard let numbers = Self.whole(maps) else { return nil }
    self.numbers = numbers
  }

  /// The numbers of a map from Y, Cb − 128, Cr − 128 and 1, for the sum of `count` luma samples: factors of luma, taken as
  /// difference to 128 times 64, and of Cb and Cr, taken as differences to 128 times 256; and what is added. The result is
  /// in samples times `scale`.
  static func numbers(_ map: SIMD4<Double>, of count: Double = 1, plus offset: Double = 0) -> [Double] {
    // Two or three products are rounded down.
    let constant = (map.w + offset + 128 * map.x) * scale + 1
    return [map.x * 1024 * scale / count, map.y * 256 * scale, map.z * 256 * scale, constant]
  }

  /// The same in 16 bits; nil when one does not fit.
  static func whole(_ maps: [[Double]]) -> [Int16]? {
    let numbers = maps.joined().compactMap { Int16(exactly: $0.rounded()) }
    return numbers.count == maps.joined().count ? numbers : nil
  }
}
