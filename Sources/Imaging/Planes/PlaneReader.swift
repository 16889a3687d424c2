import CJPEG

/// The planes of a JPEG as they are stored, each read at its own pace.
final class PlaneReader {
  /// Y, Cb and Cr.
  private let queues: [PlaneQueue]
  private let decoder: JPEGDecoder
  private let isCancelled: () -> Bool
  private let rowPointers: UnsafeMutablePointer<JSAMPROW?>
  private let planePointers: UnsafeMutablePointer<JSAMPARRAY?>

  /// Starts a decoder of YCbCr, which may have been asked to reduce.
  init(_ decoder: JPEGDecoder, isCancelled: @escaping () -> Bool) throws(ImagingError) {
    try decoder.startPlanes(isCancelled: isCancelled)
    self.decoder = decoder
    self.isCancelled = isCancelled
    queues = decoder.planes.map { PlaneQueue(size: $0.size, blockRows: $0.blockRows) }
    rowPointers = .allocate(capacity: queues.map(\.blockRows).reduce(0, +))
    planePointers = .allocate(capacity: queues.count)
    var rows = rowPointers
    for (index, queue) in queues.enumerated() {
      rows.initialize(repeating: nil, count: queue.blockRows)
      (planePointers + index).initialize(to: rows)
      rows += queue.blockRows
    }
  }

  deinit {
    rowPointers.deallocate()
    planePointers.deallocate()
  }

  /// The size of a plane.
  func size(of plane: Int) -> PictureSize { queues[plane].size }

  /// Two rows of a plane, `second` not before `first`; those before `first` cannot be had any longer. They are good until
  /// the next call. Behind a row's last sample there may be written.
  func rows(_ first: Int, _ second: Int, of plane: Int) throws(ImagingError) -> (PlaneSamples, PlaneSamples) {
    let queue = queues[plane]
    queue.drop(before: first)
    while queue.delivered <= second { try readBlocks() }
    return (queue.row(first), queue.row(second))
  }

  /// Reads on to the end, so that damage anywhere is an error.
  func finish() throws(ImagingError) {
    while queues[0].delivered < queues[0].size.height {
      for queue in queues { queue.dropAll() }
      try readBlocks()
    }
    try decoder.finish()
  }

  private func readBlocks() throws(ImagingError) {
    if isCancelled() { throw .cancelled }
    var rows = rowPointers
    for queue in queues {
      let first = queue.deliver()
      for index in 0..<queue.blockRows { rows[index] = queue.row(first + index) }
      rows += queue.blockRows
    }
    try decoder.readBlocks(into: planePointers)
  }
}
