extension SIMD8<Float> {
  /// Each element limited to 0…1; what is not a number becomes 0.
  ///
  /// The lower limit is 1e-30, not 0: no sample is that small, later stages cannot enlarge it to one that shows, and
  /// only for another number than 0 does the compiler choose a single instruction.
  @inline(__always) var clampedToUnit: SIMD8<Float> {
    let low = SIMD8<Float>(repeating: 1e-30)
    let high = SIMD8<Float>(repeating: 1)
    let positive = low.replacing(with: self, where: self .> low)
    return high.replacing(with: positive, where: positive .< high)
  }
}
