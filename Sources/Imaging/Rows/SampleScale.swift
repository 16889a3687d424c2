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
    (unsafeBitCast(lanes | magicBits, to: SIMD8<Float>.self) - magic) * factor
  }

  /// The integers nearest to floats of 0…1 times `factor`, which is below 2¹⁶; halves go up: floor(x · factor + 0.5),
  /// with 0.001 of tolerance for what is a half but for the inexactness of floats.
  @inline(__always)
  static func integers(_ values: SIMD8<Float>, times factor: Float) -> SIMD8<UInt32> {
    unsafeBitCast(values * factor + 0.001 + magic, to: SIMD8<UInt32>.self) & 0xFFFF
  }
}
