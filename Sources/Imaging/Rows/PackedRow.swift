/// Owns the memory of one row in the form that codecs use: interleaved samples of 8 or 16 bits in the machine's byte
/// order, which must be little-endian. Padded to a multiple of 8 pixels, so that conversions need no special case.
final class PackedRow {
  /// Pixels.
  let width: Int
  /// Channels and depth.
  let layout: PixelLayout
  /// The first byte. Deliberately not aligned to 16 bytes: to aligned memory libjpeg-turbo writes with non-temporal stores,
  /// and reading the row afterwards takes five times as long as converting it.
  let bytes: UnsafeMutableRawPointer
  private let memory: UnsafeMutableRawPointer

  /// Allocates a row of `width` pixels, filled with 0.
  init(width: Int, layout: PixelLayout) {
    self.width = width
    self.layout = layout
    let count = Self.bytes(width: width, layout: layout)
    memory = .allocate(byteCount: count, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: count)
    bytes = memory + 8
  }

  deinit { memory.deallocate() }

  /// The bytes of a row of `width` pixels.
  static func bytes(width: Int, layout: PixelLayout) -> Int { (width + 7) / 8 * 8 * layout.packedBytes + 8 }

  /// Makes all pixels transparent, or black when the row has no alpha.
  func clear() { bytes.initializeMemory(as: UInt8.self, repeating: 0, count: width * layout.packedBytes) }

  /// Loads a vector from the row, seen as an array of such vectors.
  @inline(__always)
  func vector<Vector: BitwiseCopyable>(_ index: Int, as type: Vector.Type) -> Vector {
    bytes.loadUnaligned(fromByteOffset: index * MemoryLayout<Vector>.stride, as: type)
  }

  /// Stores a vector. Copies bytes: `storeBytes` compiles to an instruction that requires alignment.
  @inline(__always)
  func set<Vector: BitwiseCopyable>(_ index: Int, to vector: Vector) {
    withUnsafeBytes(of: vector) { source in
      UnsafeMutableRawBufferPointer(start: bytes + index * source.count, count: source.count).copyMemory(from: source)
    }
  }
}
