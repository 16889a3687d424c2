/// Converts eight samples at once between integers and floats of 0…1.
///
/// The integer is placed in the mantissa of a float near 2²³, where neighbouring floats differ by 1: adding and
/// subtracting 2²³ converts and rounds without a conversion instruction, on any processor.
enum SampleScale {
  private static var magic: Float { 8_388_608 }
  private static var magicBits: UInt32 { 0x4B00_0000 }

  /// Converts integers below 2²³ to floats and multiplies them by `factor`.
  @inline(__always)
  static func floats(_ lanes: SIMD8<UInt32>, times factor: Float) -> SIMD8<Float> {
    // The same bits, lane for lane: integer and float are 32 bits both.
    (unsafeBitCast(lanes | magicBits, to: SIMD8<Float>.self) - magic) * factor
  }

  /// Converts floats of 0…1 to the nearest 8-bit samples: floor(x · 255 + 0.5). The upper 8 bits of each lane are
  /// undefined (0x4B); the bits between are 0.
  @inline(__always)
  static func bytes(_ values: SIMD8<Float>) -> SIMD8<UInt32> {
    // A little more than 255: addition rounds halves to even, and this factor moves values that are a half, up to float
    // error, slightly above it. Then the same bits, lane for lane.
    unsafeBitCast(values * 255.0005 + magic, to: SIMD8<UInt32>.self)
  }

  /// Converts floats of 0…1 to the nearest 16-bit samples. The upper 8 bits of each lane are undefined (0x4B); the bits
  /// between are 0.
  @inline(__always)
  static func words(_ values: SIMD8<Float>) -> SIMD8<UInt32> {
    // The same bits, lane for lane.
    unsafeBitCast(values * 65535 + magic, to: SIMD8<UInt32>.self)
  }
}

extension SIMD8<Float> {
  /// Each element clamped to 0…1; NaN becomes 0.
  ///
  /// The lower bound is 1e-30, not 0: it is far below the smallest sample, later stages cannot amplify it to a visible
  /// one, and only for a bound other than 0 does the compiler emit a single instruction.
  @inline(__always) var clampedToUnit: SIMD8<Float> {
    let low = SIMD8<Float>(repeating: 1e-30)
    let high = SIMD8<Float>(repeating: 1)
    let positive = low.replacing(with: self, where: self .> low)
    return high.replacing(with: positive, where: positive .< high)
  }
}

extension SIMD8 where Scalar: FixedWidthInteger {
  /// The same as `init(truncatingIfNeeded:)`, always inlined. The library's function is not inlined when several files use
  /// it for the same types, and dominates the run time of a loop then.
  @inline(__always)
  init<Other: SIMD>(lowBitsOf other: Other) where Other.Scalar: FixedWidthInteger {
    @inline(__always) func lane(_ index: Int) -> Scalar { Scalar(truncatingIfNeeded: other[index]) }
    self.init(lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7))
  }
}
