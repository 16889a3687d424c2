/// The rows of a stored plane as grey rows; neighbouring samples are averaged where the output has fewer.
final class PlaneRows: RowSource {
  let size: PictureSize
  let layout = PixelLayout(isGrey: true, hasAlpha: false, is16Bit: false)
  private let reader: PlaneReader
  private let plane: Int
  /// Stored columns and rows per sample, 1 or 2.
  private let joined: ChromaSampling
  private var nextRow = 0

  /// Creates a source for a plane with the given output sampling.
  init(_ reader: PlaneReader, plane: Int, sampling: ChromaSampling) {
    let (luma, stored) = (reader.size(of: 0), reader.size(of: plane))
    self.reader = reader
    self.plane = plane
    size = PictureSize(
      width: (luma.width + sampling.horizontal - 1) / sampling.horizontal,
      height: (luma.height + sampling.vertical - 1) / sampling.vertical)
    joined = ChromaSampling(
      horizontal: size.width < stored.width ? 2 : 1, vertical: size.height < stored.height ? 2 : 1)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    let stored = reader.size(of: plane)
    let first = nextRow * joined.vertical
    let (upper, lower) = try reader.rows(first, min(first + joined.vertical, stored.height) - 1, of: plane)
    nextRow += 1
    guard joined.horizontal == 2 else {
      for index in 0..<row.vectors {
        let (a, b) = (Self.load(upper, index, as: SIMD8<UInt8>.self), Self.load(lower, index, as: SIMD8<UInt8>.self))
        row.red[index] = SampleScale.floats(SIMD8<UInt32>(lowBitsOf: a) &+ SIMD8<UInt32>(lowBitsOf: b), times: 1 / 510)
      }
      return
    }
    if stored.width % 2 == 1 {
      (upper[stored.width], lower[stored.width]) = (upper[stored.width - 1], lower[stored.width - 1])
    }
    for index in 0..<row.vectors {
      let (a, b) = (Self.load(upper, index, as: SIMD8<UInt16>.self), Self.load(lower, index, as: SIMD8<UInt16>.self))
      let sums = (a & 0xFF) &+ (a &>> 8) &+ (b & 0xFF) &+ (b &>> 8)
      row.red[index] = SampleScale.floats(SIMD8<UInt32>(lowBitsOf: sums), times: 1 / 1020)
    }
  }

  @inline(__always)
  private static func load<Vector: SIMD & BitwiseCopyable>(
    _ row: PlaneSamples, _ index: Int, as type: Vector.Type
  ) -> Vector {
    UnsafeRawPointer(row).loadUnaligned(fromByteOffset: index &* MemoryLayout<Vector>.stride, as: type)
  }
}
