/// Rows of another width: each new pixel is a weighted sum of old ones of its row.
final class WeightedColumns: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let weights: ResamplingWeights
  private let buffer: RowBuffer
  /// The planes' samples, each with room behind: weights come by four, and the last ones may lie behind the end. They are 0
  /// there, and so are the samples.
  private let lines: UnsafeMutablePointer<Float>
  private let capacity: Int

  /// Rows of a source, resampled.
  init(_ source: any RowSource, _ weights: ResamplingWeights) {
    self.source = source
    self.weights = weights
    size = PictureSize(width: weights.count, height: source.size.height)
    layout = source.layout
    buffer = RowBuffer(width: source.size.width, layout: source.layout)
    capacity = source.size.width + weights.stride
    lines = .allocate(capacity: capacity * layout.channels)
    lines.initialize(repeating: 0, count: capacity * layout.channels)
  }

  deinit { lines.deallocate() }

  func read(into row: PixelRow) throws(ImagingError) {
    try source.read(into: buffer.row)
    for plane in 0..<row.planeCount {
      (lines + plane * capacity).update(from: buffer.row.samples(plane), count: source.size.width)
    }
    if layout.isGrey {
      resample(lines, into: row.samples(0))
    } else {
      resampleColours(into: row)
    }
    if layout.hasAlpha { resample(lines + (row.planeCount - 1) * capacity, into: row.samples(row.planeCount - 1)) }
  }

  private func resample(_ line: UnsafeMutablePointer<Float>, into target: UnsafeMutablePointer<Float>) {
    let quads = weights.stride / 4
    for index in 0..<size.width {
      let factors = weights.quads(for: index)
      let samples = UnsafeRawPointer(line + weights.ranges[index].lowerBound)
      var sum = SIMD4<Float>()
      for quad in 0..<quads {
        sum += samples.loadUnaligned(fromByteOffset: quad &* 16, as: SIMD4<Float>.self) * factors[quad]
      }
      target[index] = sum.sumOfLanes
    }
  }

  /// The three colours at once: the weights are the same.
  private func resampleColours(into row: PixelRow) {
    let (red, green, blue) = (row.samples(0), row.samples(1), row.samples(2))
    let (quads, plane) = (weights.stride / 4, capacity * MemoryLayout<Float>.stride)
    for index in 0..<size.width {
      let factors = weights.quads(for: index)
      var samples = UnsafeRawPointer(lines + weights.ranges[index].lowerBound)
      var (reds, greens, blues) = (SIMD4<Float>(), SIMD4<Float>(), SIMD4<Float>())
      for quad in 0..<quads {
        let factor = factors[quad]
        reds += samples.loadUnaligned(as: SIMD4<Float>.self) * factor
        greens += samples.loadUnaligned(fromByteOffset: plane, as: SIMD4<Float>.self) * factor
        blues += samples.loadUnaligned(fromByteOffset: 2 &* plane, as: SIMD4<Float>.self) * factor
        samples += 16
      }
      (red[index], green[index], blue[index]) = (reds.sumOfLanes, greens.sumOfLanes, blues.sumOfLanes)
    }
  }
}

extension SIMD4<Float> {
  /// The sum of the four.
  @inline(__always)
  fileprivate var sumOfLanes: Float { (x + z) + (y + w) }
}
