/// The rows of a source, blurred. Colours are premultiplied, before and after.
final class BlurredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let buffer: RowBuffer
  private let horizontal: HorizontalBlur<SIMD4<Float>>
  private let vertical: [MovingAverage<SIMD4<Float>>]
  private let delay: Int
  private var pushed = 0
  private var nextRow = 0

  /// Creates a source that applies three box blurs in both directions.
  init(_ source: any RowSource, _ boxes: BoxSizes) {
    self.source = source
    (size, layout) = (source.size, source.layout)
    let width = source.size.width
    buffer = RowBuffer(width: width, layout: source.layout)
    horizontal = HorizontalBlur(width: width, boxes)
    vertical = boxes.sizes.map { MovingAverage(width: width, count: $0) }
    delay = boxes.delay
  }

  func read(into row: PixelRow) throws(ImagingError) {
    var line = horizontal.line
    while pushed <= nextRow + delay {
      if pushed < size.height {
        try source.read(into: buffer.row)
        buffer.row.interleave(into: horizontal.line)
        line = horizontal.blur() + horizontal.margin
      } else {
        line = horizontal.line
        line.update(repeating: .zero, count: size.width)
      }
      for average in vertical { average.push(line) }
      pushed += 1
    }
    row.deinterleave(line)
    nextRow += 1
  }
}

extension PixelRow {
  /// Writes the pixels one after another: red or grey, green, blue, alpha; missing channels are 0.
  fileprivate func interleave(into pixels: UnsafeMutablePointer<SIMD4<Float>>) {
    let (red, green, blue, alpha) = (samples(0), samples(1), samples(2), samples(planeCount - 1))
    switch planeCount {
    case 1: for index in 0..<width { pixels[index] = [red[index], 0, 0, 0] }
    case 2: for index in 0..<width { pixels[index] = [red[index], 0, 0, alpha[index]] }
    case 3: for index in 0..<width { pixels[index] = [red[index], green[index], blue[index], 0] }
    default: for index in 0..<width { pixels[index] = [red[index], green[index], blue[index], alpha[index]] }
    }
  }

  /// Reads pixels as `interleave` writes them.
  fileprivate func deinterleave(_ pixels: UnsafeMutablePointer<SIMD4<Float>>) {
    let lanes = (layout.isGrey ? [0] : [0, 1, 2]) + (layout.hasAlpha ? [3] : [])
    for (plane, lane) in lanes.enumerated() {
      let samples = samples(plane)
      for index in 0..<width { samples[index] = pixels[index][lane] }
    }
  }
}
