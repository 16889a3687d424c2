/// Exchanges left and right of a row.
struct Mirror: RowFilter {
  func apply(to row: PixelRow) {
    for plane in 0..<row.planeCount {
      var line = UnsafeMutableBufferPointer(start: row.samples(plane), count: row.width)
      line.reverse()
    }
  }
}
