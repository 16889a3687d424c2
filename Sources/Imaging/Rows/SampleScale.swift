/// Conversion of eight samples at once between integers and floats of 0…1.
///
/// The integer is placed in the mantissa of a float near 2²³, where the distance of neighbours is 1: adding and
/// subtracting 2²³ converts and rounds without a conversion instruction, on any processor.
enum SampleScale {
  private static var magic: Float { 8_388_608 }
  private static var magicBits: UInt32 { 0x4B00_0000 }

  /// Floats of the integers in `lanes`, which are below 2²³, times `factor`.
  @inline(__always)
  static func floats(_ lanes: SIMD8<UInt32>, times factor: Float) -> SIMD8<Float> {
    // The same bits, lane for lane: integer and float are 32 bits both.
    (unsafeBitCast(lanes | magicBits, to: SIMD8<Float>.self) - magic) * factor
  }

  /// The 8-bit samples nearest to floats of 0…1: floor(x · 255 + 0.5). The upper 8 bits of each lane mean nothing
  /// (0x4B); those between are 0.
  @inline(__always)
  static func bytes(_ values: SIMD8<Float>) -> SIMD8<UInt32> {
    // A little more than 255: addition rounds halves to even, and this makes of what is a half, or would be one but for
    // the inexactness of floats, a little more than a half. Then the same bits, lane for lane.
    unsafeBitCast(values * 255.0005 + magic, to: SIMD8<UInt32>.self)
  }

  /// The 16-bit samples nearest to floats of 0…1. The upper 8 bits of each lane mean nothing (0x4B); those between
  /// are 0.
  @inline(__always)
  static func words(_ values: SIMD8<Float>) -> SIMD8<UInt32> {
    // The same bits, lane for lane.
    unsafeBitCast(values * 65535 + magic, to: SIMD8<UInt32>.self)
  }
}
