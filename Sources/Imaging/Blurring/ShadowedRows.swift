/// The rows of a source with a shadow of its alpha beneath. Colours must be multiplied by alpha, and are afterwards.
final class ShadowedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let colour: CSSColour
  private let offset: (x: Int, y: Int)
  private let along: LineBlur<Float>
  private let across: [MovingAverage<Float>]
  /// The row whose alpha comes to the shadow when the first row is made; below 0 before the first one.
  private let reach: Int
  private let kept: [RowBuffer]
  private let shadow: RowBuffer
  private var nextRow = 0
  private var nextOfSource = 0
  private var nextOfShadow = 0

  /// Rows of a source, which has alpha, with a shadow that lies on the canvas.
  init(_ source: any RowSource, _ boxes: BoxSizes, offset: (x: Int, y: Int), colour: CSSColour) {
    self.source = source
    self.colour = colour
    self.offset = offset
    (size, layout) = (source.size, source.layout)
    let (width, layout) = (source.size.width, source.layout)
    along = LineBlur(width: width, boxes)
    across = boxes.sizes.map { MovingAverage(width: (width + 7) / 8 * 8, count: $0) }
    reach = boxes.delay - offset.y
    kept = (0...abs(reach)).map { _ in RowBuffer(width: width, layout: layout) }
    shadow = RowBuffer(width: width, layout: PixelLayout(isGrey: true, hasAlpha: false, isDeep: layout.isDeep))
  }

  func read(into row: PixelRow) throws(ImagingError) {
    while nextOfShadow <= nextRow + reach {
      try takeIn(upTo: nextOfShadow)
      push(nextOfShadow)
      nextOfShadow += 1
    }
    try takeIn(upTo: nextRow)
    lay(kept[nextRow % kept.count].row, into: row)
    nextRow += 1
  }

  /// Reads rows of the source, as far as there are some.
  private func takeIn(upTo last: Int) throws(ImagingError) {
    while nextOfSource <= min(last, size.height - 1) {
      try source.read(into: kept[nextOfSource % kept.count].row)
      nextOfSource += 1
    }
  }

  /// Lets a row's alpha come to the shadow, which is then `reach` rows above it. Below the picture there is none.
  private func push(_ index: Int) {
    let line = UnsafeMutableRawPointer(shadow.row.red).assumingMemoryBound(to: Float.self)
    line.update(repeating: 0, count: shadow.row.vectors * 8)
    if index < size.height {
      let alpha = UnsafeRawPointer(kept[index % kept.count].row.alpha).assumingMemoryBound(to: Float.self)
      along.line.update(from: alpha, count: size.width)
      let blurred = along.blur()
      let first = along.margin - offset.x
      for column in max(0, -first)..<max(0, -first, min(size.width, size.width + 2 * along.margin - first)) {
        line[column] = blurred[first + column]
      }
    }
    for average in across { average.push(line) }
  }

  /// Source over shadow (Compositing and Blending Level 1 § 9.1.4).
  private func lay(_ top: PixelRow, into row: PixelRow) {
    for index in 0..<row.vectors {
      let seen = shadow.row.red[index] * colour.alpha * (1 - top.alpha[index])
      row.red[index] = top.red[index] + seen * colour.red
      if !layout.isGrey {
        row.green[index] = top.green[index] + seen * colour.green
        row.blue[index] = top.blue[index] + seen * colour.blue
      }
      row.alpha[index] = top.alpha[index] + seen
    }
  }
}
