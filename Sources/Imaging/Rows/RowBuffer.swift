/// Owns the memory of one row; allocated once for a picture.
final class RowBuffer {
  let row: PixelRow
  private let memory: UnsafeMutablePointer<SIMD8<Float>>
  private let count: Int

  /// Allocates a row of `width` pixels, filled with 0.
  init(width: Int, layout: PixelLayout) {
    let vectors = Self.vectors(width)
    let colours = layout.isGrey ? 1 : 3
    count = vectors * layout.channels
    memory = .allocateCacheLines(capacity: count)
    memory.initialize(repeating: .zero, count: count)
    row = PixelRow(
      layout: layout, width: width, vectors: vectors, red: memory,
      green: layout.isGrey ? memory : memory + vectors,
      blue: layout.isGrey ? memory : memory + 2 * vectors,
      alpha: layout.hasAlpha ? memory + colours * vectors : memory)
  }

  /// The bytes of a row of `width` pixels.
  static func bytes(width: Int, layout: PixelLayout) -> Int {
    vectors(width) * layout.channels * MemoryLayout<SIMD8<Float>>.stride
  }

  /// The vectors of a plane.
  private static func vectors(_ width: Int) -> Int { (width + 7) / 8 }

  deinit {
    memory.deinitialize(count: count)
    memory.deallocate()
  }
}
