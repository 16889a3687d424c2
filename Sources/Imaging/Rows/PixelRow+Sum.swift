extension PixelRow {
  /// Makes all samples 0.
  func clear() {
    red.update(repeating: .zero, count: planeCount * vectors)
  }

  /// Adds another row's samples, times a factor.
  func add(_ other: PixelRow, times factor: Float) {
    for index in 0..<(planeCount * vectors) { red[index] += other.red[index] * factor }
  }

  /// Takes another row's samples.
  func copy(_ other: PixelRow) {
    red.update(from: other.red, count: planeCount * vectors)
  }
}
