/// The least and the greatest of samples that lie in the same place of several vectors.
struct PlaneExtremes {
  let lowest, highest: PlaneVector

  /// Those of one vector.
  @inline(__always)
  init(_ samples: PlaneVector) { (lowest, highest) = (samples, samples) }

  /// Those of two rows.
  @inline(__always)
  init(_ upper: PlaneVectorPair, _ lower: PlaneVectorPair) {
    lowest = upper.even.lesser(upper.odd).lesser(lower.even.lesser(lower.odd))
    highest = upper.even.greater(upper.odd).greater(lower.even.greater(lower.odd))
  }
}
