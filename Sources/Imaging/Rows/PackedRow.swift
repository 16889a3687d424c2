/// The memory of one row as codecs exchange it: interleaved samples of 8 or 16 bits in the machine's byte order, which
/// must be little-endian. A multiple of 8 pixels, so that conversions need no special end.
final class PackedRow {
  /// Pixels.
  let width: Int
  /// Which channels, and how deep.
  let layout: PixelLayout
  /// The first byte. Deliberately no multiple of 16: to aligned memory libjpeg-turbo writes past the caches, and reading
  /// the row afterwards then takes five times as long as converting it.
  let bytes: UnsafeMutableRawPointer
  private let memory: UnsafeMutableRawPointer

  /// Memory for `width` pixels, all 0.
  init(width: Int, layout: PixelLayout) {
    self.width = width
    self.layout = layout
    let count = (width + 7) / 8 * 8 * layout.packedBytes + 8
    memory = .allocate(byteCount: count, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    bytes = memory + 8
  }

  deinit { memory.deallocate() }

  /// The vector of some index, when the row is seen as an array of them.
  @inline(__always)
  func vector<Vector: BitwiseCopyable>(_ index: Int, as type: Vector.Type) -> Vector {
    bytes.loadUnaligned(fromByteOffset: index * MemoryLayout<Vector>.stride, as: type)
  }

  /// Replaces the vector of some index. Copies bytes: `storeBytes` becomes an instruction that needs alignment.
  @inline(__always)
  func set<Vector: BitwiseCopyable>(_ index: Int, to vector: Vector) {
    withUnsafeBytes(of: vector) { source in
      UnsafeMutableRawBufferPointer(start: bytes + index * source.count, count: source.count).copyMemory(from: source)
    }
  }
}
