/// A row of pixels as the stages see it: a plane of floats for each channel, 0…1, alpha not multiplied in.
///
/// Planes come in vectors of 8; the last is filled up with pixels whose values mean nothing. They lie one behind another.
/// A view: the memory belongs to a `RowBuffer`.
package struct PixelRow {
  /// Which channels there are.
  let layout: PixelLayout
  /// Pixels.
  let width: Int
  /// Vectors of each plane.
  let vectors: Int
  /// Red; the only colour of grey rows.
  let red: UnsafeMutablePointer<SIMD8<Float>>
  /// Green. Not to be touched when grey.
  let green: UnsafeMutablePointer<SIMD8<Float>>
  /// Blue. Not to be touched when grey.
  let blue: UnsafeMutablePointer<SIMD8<Float>>
  /// Alpha, where 1 is opaque. Not to be touched when there is none.
  let alpha: UnsafeMutablePointer<SIMD8<Float>>
}

extension PixelRow {
  /// How many planes there are: grey or red, green and blue, then alpha.
  var planeCount: Int { layout.channels }

  /// The first vector of a plane.
  func plane(_ index: Int) -> UnsafeMutablePointer<SIMD8<Float>> { red + index * vectors }

  /// The first sample of a plane.
  func samples(_ index: Int) -> UnsafeMutablePointer<Float> {
    UnsafeMutableRawPointer(plane(index)).assumingMemoryBound(to: Float.self)
  }
}
