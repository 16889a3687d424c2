/// Eight rows, and the same samples transposed: columns of eight.
final class RowGroup {
  static let rows = 8

  private let buffers: [RowBuffer]
  private let memory: UnsafeMutablePointer<SIMD8<Float>>
  private let planeLength: Int

  /// Allocates rows of `width` pixels, filled with 0.
  init(width: Int, layout: PixelLayout) {
    buffers = (0..<Self.rows).map { _ in RowBuffer(width: width, layout: layout) }
    planeLength = buffers[0].row.vectors * 8
    memory = .allocateCacheLines(capacity: planeLength * layout.channels)
    memory.initialize(repeating: .zero, count: planeLength * layout.channels)
  }

  deinit { memory.deallocate() }

  func row(_ index: Int) -> PixelRow { buffers[index].row }

  /// The first sample of the columns of a plane.
  func columns(_ plane: Int) -> UnsafeMutablePointer<Float> {
    UnsafeMutableRawPointer(memory + plane * planeLength).assumingMemoryBound(to: Float.self)
  }

  /// Transposes the rows into the columns.
  func gatherColumns() {
    let (upper, lower) = (quads(0), quads(4))
    for quad in 0..<quadCount {
      let (a, b) = (Quad(upper, quad).transposed, Quad(lower, quad).transposed)
      let block = memory + 4 &* quad
      block[0] = SIMD8(lowHalf: a.rows.0, highHalf: b.rows.0)
      block[1] = SIMD8(lowHalf: a.rows.1, highHalf: b.rows.1)
      block[2] = SIMD8(lowHalf: a.rows.2, highHalf: b.rows.2)
      block[3] = SIMD8(lowHalf: a.rows.3, highHalf: b.rows.3)
    }
  }

  /// Transposes the columns into the rows.
  func scatterColumns() {
    let (upper, lower) = (quads(0), quads(4))
    for quad in 0..<quadCount {
      let block = memory + 4 &* quad
      let (a, b, c, d) = (block[0], block[1], block[2], block[3])
      Quad(rows: (a.lowHalf, b.lowHalf, c.lowHalf, d.lowHalf)).transposed.store(upper, quad)
      Quad(rows: (a.highHalf, b.highHalf, c.highHalf, d.highHalf)).transposed.store(lower, quad)
    }
  }

  private var quadCount: Int { planeLength * buffers[0].row.planeCount / 4 }

  /// The samples of four rows, plane after plane, in vectors of four.
  private func quads(_ first: Int) -> Quad.Rows {
    func row(_ index: Int) -> UnsafeMutablePointer<SIMD4<Float>> {
      UnsafeMutableRawPointer(buffers[first + index].row.red).assumingMemoryBound(to: SIMD4<Float>.self)
    }
    return (row(0), row(1), row(2), row(3))
  }

  /// Four samples of four rows.
  private struct Quad {
    typealias Row = UnsafeMutablePointer<SIMD4<Float>>
    typealias Rows = (Row, Row, Row, Row)

    let rows: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)

    @inline(__always)
    var transposed: Quad {
      let (a, b, c, d) = rows
      return Quad(
        rows: ([a.x, b.x, c.x, d.x], [a.y, b.y, c.y, d.y], [a.z, b.z, c.z, d.z], [a.w, b.w, c.w, d.w]))
    }

    @inline(__always)
    init(rows: (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>, SIMD4<Float>)) { self.rows = rows }

    @inline(__always)
    init(_ memory: Rows, _ index: Int) { rows = (memory.0[index], memory.1[index], memory.2[index], memory.3[index]) }

    @inline(__always)
    func store(_ memory: Rows, _ index: Int) {
      (memory.0[index], memory.1[index], memory.2[index], memory.3[index]) = rows
    }
  }
}
