extension SIMD8<Float> {
  /// Each element limited to 0…1; what is not a number becomes 0.
  @inline(__always) var clampedToUnit: SIMD8<Float> {
    let zero = SIMD8<Float>(repeating: 0)
    let one = SIMD8<Float>(repeating: 1)
    let positive = zero.replacing(with: self, where: self .> zero)
    return positive.replacing(with: one, where: positive .> one)
  }
}
