extension PixelRow {
  /// Makes all samples 0.
  func clear() {
    for plane in planes { plane.update(repeating: .zero, count: vectors) }
  }

  /// Adds another row's samples, times a factor.
  func add(_ other: PixelRow, times factor: Float) {
    for (plane, addend) in zip(planes, other.planes) {
      for index in 0..<vectors { plane[index] += addend[index] * factor }
    }
  }
}
