/// Pointers to the rows of a row of blocks, of each plane.
final class BlockRowPointers {
  private let blockRows: [Int]
  private let rows: UnsafeMutablePointer<PlaneSamples?>
  private let planes: PlanePointers

  /// - Parameter blockRows: Of each plane.
  init(_ blockRows: [Int]) {
    self.blockRows = blockRows
    rows = .allocate(capacity: blockRows.reduce(0, +))
    planes = .allocate(capacity: blockRows.count)
    var first = rows
    for (index, count) in blockRows.enumerated() {
      first.initialize(repeating: nil, count: count)
      (planes + index).initialize(to: first)
      first += count
    }
  }

  deinit {
    rows.deallocate()
    planes.deallocate()
  }

  /// - Parameter row: The row of a plane that has an index in its row of blocks.
  /// - Returns: Valid until the next call.
  func pointing(to row: (_ plane: Int, _ index: Int) -> PlaneSamples) -> PlanePointers {
    for (plane, count) in blockRows.enumerated() {
      for index in 0..<count { planes[plane]?[index] = row(plane, index) }
    }
    return planes
  }
}
