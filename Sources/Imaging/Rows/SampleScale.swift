/// Conversion of eight samples at once between integers and floats of 0…1.
///
/// The integer is placed in the mantissa of a float near 2²³, where the distance of neighbours is 1: adding and
/// subtracting 2²³ converts and rounds without a conversion instruction, on any processor.
enum SampleScale {
  private static var magic: Float { 8_388_608 }
  private static var magicBits: UInt32 { 0x4B00_0000 }

  /// What one is in 8 bits, and a little more: halves are rounded to even below, and this makes of what is a half, or
  /// would be one but for the inexactness of floats, a little more than a half.
  static var eightBits: Float { 255.0005 }
  /// What one is in 16 bits.
  static var sixteenBits: Float { 65535 }

  /// Floats of the integers in `lanes`, which are below 2²³, times `factor`.
  @inline(__always)
  static func floats(_ lanes: SIMD8<UInt32>, times factor: Float) -> SIMD8<Float> {
    (unsafeBitCast(lanes | magicBits, to: SIMD8<Float>.self) - magic) * factor
  }

  /// The integers nearest to floats of 0…1 times `factor`, which is one of those above: floor(x · 255 + 0.5). The upper
  /// 8 bits of the result mean nothing (0x4B); those between are 0.
  @inline(__always)
  static func integers(_ values: SIMD8<Float>, times factor: Float) -> SIMD8<UInt32> {
    unsafeBitCast(values * factor + magic, to: SIMD8<UInt32>.self)
  }
}
