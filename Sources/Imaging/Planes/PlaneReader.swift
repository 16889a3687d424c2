/// Reads the stored planes of a picture, each with its own position.
final class PlaneReader {
  /// Y, Cb and Cr.
  private let buffers: [PlaneRingBuffer]
  private let decoder: any PlaneDecoder
  private let isCancelled: () -> Bool
  private let pointers: BlockRowPointers

  /// Starts a decoder, for which a reduction may have been requested.
  init(_ decoder: any PlaneDecoder, isCancelled: @escaping () -> Bool) throws(ImagingError) {
    try decoder.startPlanes(isCancelled: isCancelled)
    self.decoder = decoder
    self.isCancelled = isCancelled
    buffers = decoder.planes.map { PlaneRingBuffer(size: $0.size, blockRows: $0.blockRows) }
    pointers = BlockRowPointers(buffers.map(\.blockRows))
  }

  func size(of plane: Int) -> PictureSize { buffers[plane].size }

  /// Reads rows of a plane; those before the first are dropped.
  func readRows(_ rows: Range<Int>, of plane: Int) throws(ImagingError) {
    let buffer = buffers[plane]
    buffer.drop(before: rows.lowerBound)
    while buffer.delivered < rows.upperBound { try readBlocks() }
  }

  /// A row that has been read and not been dropped, valid until the next are read. The caller may write after its last sample.
  func row(_ index: Int, of plane: Int) -> PlaneSamples { buffers[plane].row(index) }

  /// Reads on to the end, so that damage anywhere is an error.
  func finish() throws(ImagingError) {
    while buffers[0].delivered < buffers[0].size.height {
      for buffer in buffers { buffer.dropAll() }
      try readBlocks()
    }
    try decoder.finish()
  }

  private func readBlocks() throws(ImagingError) {
    if isCancelled() { throw .cancelled }
    let first = buffers.map { $0.deliver() }
    try decoder.readBlocks(into: pointers.pointing { buffers[$0].row(first[$0] + $1) })
  }
}
