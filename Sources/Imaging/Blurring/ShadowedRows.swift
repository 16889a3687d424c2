/// The rows of a source over a shadow of its alpha. Colours are premultiplied, before and after.
final class ShadowedRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let colour: CSSColour
  private let offset: (x: Int, y: Int)
  private let horizontal: HorizontalBlur<Float>
  private let vertical: [MovingAverage<Float>]
  /// The source row that completes the first row's shadow; negative when the shadow begins above the picture.
  private let lookahead: Int
  private let kept: [RowBuffer]
  private let shadow: RowBuffer
  private var nextRow = 0
  private var nextSourceRow = 0
  private var nextShadowRow = 0

  /// Creates a source for a picture with alpha; some of the shadow must be on the canvas.
  init(_ source: any RowSource, _ boxes: BoxSizes, offset: (x: Int, y: Int), colour: CSSColour) {
    self.source = source
    self.colour = colour
    self.offset = offset
    (size, layout) = (source.size, source.layout)
    let (width, layout) = (source.size.width, source.layout)
    horizontal = HorizontalBlur(width: width, boxes)
    vertical = boxes.sizes.map { MovingAverage(width: (width + 7) / 8 * 8, count: $0) }
    lookahead = boxes.delay - offset.y
    kept = (0...abs(lookahead)).map { _ in RowBuffer(width: width, layout: layout) }
    shadow = RowBuffer(width: width, layout: PixelLayout(isGrey: true, hasAlpha: false, is16Bit: layout.is16Bit))
  }

  func read(into row: PixelRow) throws(ImagingError) {
    while nextShadowRow <= nextRow + lookahead {
      try readSource(upTo: nextShadowRow)
      push(nextShadowRow)
      nextShadowRow += 1
    }
    try readSource(upTo: nextRow)
    composite(kept[nextRow % kept.count].row, into: row)
    nextRow += 1
  }

  /// Reads rows of the source up to a row or the last.
  private func readSource(upTo last: Int) throws(ImagingError) {
    while nextSourceRow <= min(last, size.height - 1) {
      try source.read(into: kept[nextSourceRow % kept.count].row)
      nextSourceRow += 1
    }
  }

  /// Adds a row's alpha to the shadow, whose current row is then `lookahead` rows above. Below the picture alpha is 0.
  private func push(_ index: Int) {
    let line = UnsafeMutableRawPointer(shadow.row.red).assumingMemoryBound(to: Float.self)
    line.update(repeating: 0, count: shadow.row.vectors * 8)
    if index < size.height {
      let alpha = UnsafeRawPointer(kept[index % kept.count].row.alpha).assumingMemoryBound(to: Float.self)
      horizontal.line.update(from: alpha, count: size.width)
      let blurred = horizontal.blur()
      let first = horizontal.margin - offset.x
      for column in max(0, -first)..<max(0, -first, min(size.width, size.width + 2 * horizontal.margin - first)) {
        line[column] = blurred[first + column]
      }
    }
    for average in vertical { average.push(line) }
  }

  /// Composites the source over the shadow (Compositing and Blending Level 1 § 9.1.4).
  private func composite(_ top: PixelRow, into row: PixelRow) {
    for index in 0..<row.vectors {
      let visible = shadow.row.red[index] * colour.alpha * (1 - top.alpha[index])
      row.red[index] = top.red[index] + visible * colour.red
      if !layout.isGrey {
        row.green[index] = top.green[index] + visible * colour.green
        row.blue[index] = top.blue[index] + visible * colour.blue
      }
      row.alpha[index] = top.alpha[index] + visible
    }
  }
}
