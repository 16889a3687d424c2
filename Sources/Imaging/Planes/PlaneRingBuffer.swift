/// A ring buffer for rows of one plane, between the decoder, which delivers rows of blocks, and the stage that reads them
/// one by one. Grows when needed.
final class PlaneRingBuffer {
  /// Columns and rows of the plane.
  let size: PictureSize
  /// Rows of a row of blocks.
  let blockRows: Int
  /// Rows that have been delivered; at the end of the picture this includes padding.
  private(set) var delivered = 0
  private let stride: Int
  private var memory: UnsafeMutablePointer<UInt8>
  private var capacity: Int
  private var firstHeld = 0

  init(size: PictureSize, blockRows: Int) {
    self.size = size
    self.blockRows = blockRows
    stride = Self.stride(size.width)
    capacity = 4 * blockRows
    memory = .allocate(capacity: capacity * stride)
    memory.initialize(repeating: 0, count: capacity * stride)
  }

  deinit { memory.deallocate() }

  /// Samples of a row that many wide: whole blocks, up to four side by side, and whole vectors of twice 8.
  static func stride(_ width: Int) -> Int { (width + 63) / 64 * 64 }

  /// The bytes of a buffer for this many rows and a row of blocks: it has grown by doubling.
  static func bytes(width: Int, blockRows: Int, holding rows: Int) -> Int {
    var capacity = 4 * blockRows
    while capacity < rows + blockRows { capacity *= 2 }
    return capacity * stride(width)
  }

  /// A row that has been delivered and not been dropped.
  func row(_ index: Int) -> PlaneSamples { memory + index % capacity * stride }

  func drop(before index: Int) { firstHeld = max(firstHeld, index) }

  func dropAll() { firstHeld = delivered }

  /// Makes room for the next row of blocks and counts it as delivered; the caller fills the rows from the returned index
  /// on.
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
