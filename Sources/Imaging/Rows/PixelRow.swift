import CPlanes

/// A row of pixels as stages see it: a plane of floats for each channel, 0…1, colours not multiplied by alpha.
///
/// Planes consist of vectors of 8 and lie one after another; the last vector of a plane is padded with pixels of undefined
/// value. A view: the memory belongs to a `RowBuffer`.
package struct PixelRow {
  let layout: PixelLayout
  /// Pixels.
  let width: Int
  /// Vectors of each plane.
  let vectors: Int
  /// Red; the grey channel of grey rows.
  let red: UnsafeMutablePointer<SIMD8<Float>>
  /// Green. Must not be accessed in grey rows.
  let green: UnsafeMutablePointer<SIMD8<Float>>
  /// Blue. Must not be accessed in grey rows.
  let blue: UnsafeMutablePointer<SIMD8<Float>>
  /// Alpha, where 1 is opaque. Must not be accessed in rows without alpha.
  let alpha: UnsafeMutablePointer<SIMD8<Float>>

  /// The number of planes: grey or red, green and blue, then alpha.
  var planeCount: Int { layout.channels }

  /// The first vector of a plane.
  func plane(_ index: Int) -> UnsafeMutablePointer<SIMD8<Float>> { red + index * vectors }

  /// The first sample of a plane.
  func samples(_ index: Int) -> UnsafeMutablePointer<Float> {
    UnsafeMutableRawPointer(plane(index)).assumingMemoryBound(to: Float.self)
  }

  /// Sets all samples to 0.
  func clear() { red.update(repeating: .zero, count: planeCount * vectors) }

  /// Adds the samples of another row, multiplied by a factor.
  func add(_ other: PixelRow, times factor: Float) {
    cplanes_add_product(.supported, samples(0), other.samples(0), factor, 8 * planeCount * vectors)
  }

  func copy(_ other: PixelRow) { red.update(from: other.red, count: planeCount * vectors) }
}
