/// The rows of a source, blurred. Colours must be multiplied by alpha, and are afterwards.
final class BlurredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let buffer: RowBuffer
  private let along: LineBlur<SIMD4<Float>>
  private let across: [MovingAverage<SIMD4<Float>>]
  private let delay: Int
  private var pushed = 0
  private var nextRow = 0

  /// Rows of a source behind three boxes in both directions.
  init(_ source: any RowSource, _ boxes: BoxSizes) {
    self.source = source
    (size, layout) = (source.size, source.layout)
    let width = source.size.width
    buffer = RowBuffer(width: width, layout: source.layout)
    along = LineBlur(width: width, boxes)
    across = boxes.sizes.map { MovingAverage(width: width, count: $0) }
    delay = boxes.delay
  }

  func read(into row: PixelRow) throws(ImagingError) {
    var line = along.line
    while pushed <= nextRow + delay {
      if pushed < size.height {
        try source.read(into: buffer.row)
        buffer.row.interleave(into: along.line)
        line = along.blur() + along.margin
      } else {
        line = along.line
        line.update(repeating: .zero, count: size.width)
      }
      for average in across { average.push(line) }
      pushed += 1
    }
    row.deinterleave(line)
    nextRow += 1
  }
}
