/// Rows of one plane between the decoder, which delivers them by blocks, and the stage that takes them one by one. Holds
/// those that were delivered and not yet given up.
final class PlaneQueue {
  /// Columns and rows of the plane.
  let size: PictureSize
  /// Rows that came with each row of blocks.
  let blockRows: Int
  /// Rows that have been delivered; at the end of the picture perhaps more than there are.
  private(set) var delivered = 0
  private let stride: Int
  private var memory: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private var firstHeld = 0

  /// A queue for a plane, empty.
  init(size: PictureSize, blockRows: Int) {
    self.size = size
    self.blockRows = blockRows
    // Whole blocks, and whole vectors of twice 8.
    stride = (size.width + 63) / 64 * 64
    capacity = 4 * blockRows
    memory = .allocate(capacity: capacity * stride)
    memory.initialize(repeating: 0, count: capacity * stride)
  }

  deinit { memory.deallocate() }

  /// A row that is held.
  func row(_ index: Int) -> PlaneSamples { memory + index % capacity * stride }

  /// Gives up the rows before one.
  func drop(before index: Int) { firstHeld = max(firstHeld, index) }

  /// Gives up everything that has been delivered.
  func dropAll() { firstHeld = delivered }

  /// Makes room for the next row of blocks and counts it as delivered: it is the caller who fills the rows from the
  /// returned index on.
  func deliver() -> Int {
    while delivered + blockRows - firstHeld > capacity { grow() }
    delivered += blockRows
    return delivered - blockRows
  }

  private func grow() {
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: 2 * capacity * stride)
    larger.initialize(repeating: 0, count: 2 * capacity * stride)
    for index in firstHeld..<delivered {
      (larger + index % (2 * capacity) * stride).update(from: row(index), count: stride)
    }
    memory.deallocate()
    memory = larger
    capacity *= 2
  }
}
