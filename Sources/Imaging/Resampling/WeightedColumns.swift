/// Rows of another width: each new pixel is a weighted sum of old ones of its row.
final class WeightedColumns: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let buffer: RowBuffer
  /// A plane's samples, and zeros behind them: weights come by four, and the last ones may lie behind the end.
  private let line: UnsafeMutablePointer<Float>

  /// Rows of a source, resampled.
  init(_ source: any RowSource, _ weights: ResamplingWeights) {
    self.source = source
    self.weights = weights
    size = PictureSize(width: weights.count, height: source.size.height)
    layout = source.layout
    buffer = RowBuffer(width: source.size.width, layout: source.layout)
    let capacity = source.size.width + weights.stride
    line = .allocate(capacity: capacity)
    line.initialize(repeating: 0, count: capacity)
  }

  deinit { line.deallocate() }

  func read(into row: PixelRow) throws(ImagingError) {
    try source.read(into: buffer.row)
    for (target, plane) in zip(row.planes, buffer.row.planes) {
      let bytes = source.size.width * MemoryLayout<Float>.stride
      UnsafeMutableRawPointer(line).copyMemory(from: plane, byteCount: bytes)
      target.withMemoryRebound(to: Float.self, capacity: size.width) { resample(into: $0) }
    }
  }

  private func resample(into target: UnsafeMutablePointer<Float>) {
    let stride = weights.stride
    weights.ranges.withUnsafeBufferPointer { ranges in
      for index in 0..<ranges.count {
        let samples = UnsafeRawPointer(line + ranges[index].lowerBound)
        let factors = UnsafeRawPointer(weights.weights + index * stride)
        var sum = SIMD4<Float>()
        for place in Swift.stride(from: 0, to: stride * 4, by: 16) {
          sum +=
            samples.loadUnaligned(fromByteOffset: place, as: SIMD4<Float>.self)
            * factors.loadUnaligned(fromByteOffset: place, as: SIMD4<Float>.self)
        }
        target[index] = (sum.x + sum.z) + (sum.y + sum.w)
      }
    }
  }
}
