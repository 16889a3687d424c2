extension SIMD8 where Scalar: FixedWidthInteger {
  /// What `init(truncatingIfNeeded:)` makes of eight lanes. That one is no longer inlined once several files use it for the
  /// same types, and then takes longer than all else.
  @inline(__always)
  init<Other: SIMD>(lowBitsOf other: Other) where Other.Scalar: FixedWidthInteger {
    self.init()
    for lane in 0..<8 { self[lane] = Scalar(truncatingIfNeeded: other[lane]) }
  }
}
