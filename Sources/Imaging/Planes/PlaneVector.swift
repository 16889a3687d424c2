/// Eight samples, or what is computed with them, in 16-bit integers.
typealias PlaneVector = SIMD8<Int16>

/// Samples of a row of a plane.
typealias PlaneSamples = UnsafeMutablePointer<UInt8>

/// Two vectors: the samples of even and of odd columns.
struct PlaneVectorPair {
  let even, odd: PlaneVector
}

extension PlaneVector {
  /// The upper 16 bits of the products with a constant in memory; see `PlaneConstants`.
  @inline(__always)
  func upperHalf(_ constant: UnsafeMutablePointer<PlaneVector>) -> PlaneVector {
    let product = SIMD8<Int32>(lowBitsOf: self) &* SIMD8<Int32>(lowBitsOf: constant.pointee)
    return PlaneVector(lowBitsOf: product &>> 16)
  }

  /// Each limited to 0 and `top`.
  @inline(__always)
  func limited(to top: PlaneVector) -> PlaneVector { greater(PlaneVector()).lesser(top) }

  /// 8 samples.
  @inline(__always)
  static func load(_ row: PlaneSamples, _ index: Int) -> PlaneVector {
    PlaneVector(lowBitsOf: UnsafeRawPointer(row + index &* 8).loadUnaligned(as: SIMD8<UInt8>.self))
  }

  /// Stores 8 samples of 0…255.
  @inline(__always)
  func store(_ row: PlaneSamples, _ index: Int) {
    let bytes = SIMD8<UInt8>(lowBitsOf: self)
    UnsafeMutableRawPointer(row + index &* 8).storeBytes(of: bytes, as: SIMD8<UInt8>.self)
  }
}

extension PlaneVectorPair {
  /// 16 samples.
  @inline(__always)
  static func load(_ row: PlaneSamples, _ index: Int) -> PlaneVectorPair {
    let both = UnsafeRawPointer(row + index &* 16).loadUnaligned(as: SIMD8<UInt16>.self)
    return PlaneVectorPair(
      even: PlaneVector(lowBitsOf: both & 0xFF), odd: PlaneVector(lowBitsOf: both &>> 8))
  }

  /// Stores 16 samples of 0…255.
  @inline(__always)
  func store(_ row: PlaneSamples, _ index: Int) {
    let both = SIMD8<UInt16>(lowBitsOf: even) | SIMD8<UInt16>(lowBitsOf: odd) &<< 8
    UnsafeMutableRawPointer(row + index &* 16).storeBytes(of: both, as: SIMD8<UInt16>.self)
  }
}
