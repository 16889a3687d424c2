/// What Swift's library has, too. There it is no longer inlined once several files use it for the same types, and then takes
/// longer than all else.
extension SIMD8 where Scalar: FixedWidthInteger {
  /// `init(truncatingIfNeeded:)`.
  @inline(__always)
  init<Other: SIMD>(lowBitsOf other: Other) where Other.Scalar: FixedWidthInteger {
    @inline(__always) func lane(_ index: Int) -> Scalar { Scalar(truncatingIfNeeded: other[index]) }
    self.init(lane(0), lane(1), lane(2), lane(3), lane(4), lane(5), lane(6), lane(7))
  }
}
