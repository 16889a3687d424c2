/// Exchanges left and right of a row.
struct Mirror: RowFilter {
  func apply(to row: PixelRow) {
    for plane in row.planes {
      plane.withMemoryRebound(to: Float.self, capacity: row.width) { samples in
        var line = UnsafeMutableBufferPointer(start: samples, count: row.width)
        line.reverse()
      }
    }
  }
}
