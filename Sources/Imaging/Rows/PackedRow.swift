/// The memory of one row as codecs exchange it: interleaved samples of 8 or 16 bits in the machine's byte order. A
/// multiple of 8 pixels, so that conversions need no special end.
final class PackedRow {
  /// Which channels, and how deep.
  let layout: PixelLayout
  /// The first byte, aligned to 64.
  let bytes: UnsafeMutableRawPointer

  /// Memory for `width` pixels, all 0.
  init(width: Int, layout: PixelLayout) {
    self.layout = layout
    let count = (width + 7) / 8 * 8 * layout.packedBytes
    bytes = .allocate(byteCount: count, alignment: 64)
    bytes.initializeMemory(as: UInt8.self, repeating: 0, count: count)
  }

  deinit { bytes.deallocate() }
}
