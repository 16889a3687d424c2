import CPlanes

/// The stored planes of a picture in another orientation. They are held whole: 1.5 bytes for each pixel of 4:2:0, 3 of 4:4:4, and
/// as many of 4:2:0 when the decoder reduces the picture.
final class TurnedPlanes: PlaneDecoder {
  private let decoder: any PlaneDecoder
  private let orientation: Orientation
  private let chroma: ChromaSampling
  private var held: [StoredPlane] = []
  /// Rows of a row of blocks of each turned plane.
  private var blockRows: [Int] = []
  /// The row of blocks that is delivered next.
  private var next = 0
  /// For rows of a square of blocks that are not delivered.
  private var surplus: PackedRow?

  /// Rows and columns that are turned at a time.
  private static let side = 16

  /// - Parameters:
  ///   - orientation: Not upright, and not a horizontal flip alone, for which no rows need be held.
  ///   - chroma: The sampling of the stored planes.
  init(_ decoder: any PlaneDecoder, _ orientation: Orientation, chroma: ChromaSampling) {
    (self.decoder, self.orientation, self.chroma) = (decoder, orientation, chroma)
  }

  /// The bytes that are held of a stored picture.
  static func bytes(of size: PictureSize, eighths: Int, chroma: ChromaSampling) -> Int {
    let delivered = size.reduced(toEighths: eighths)
    // A decoder that reduces a picture may deliver chroma in the size of luma.
    let sampling = eighths < 8 ? .yuv444 : chroma
    let reduced = PictureSize(
      width: (delivered.width + sampling.horizontal - 1) / sampling.horizontal,
      height: (delivered.height + sampling.vertical - 1) / sampling.vertical)
    return StoredPlane.bytes(of: delivered, blockRows: side) + 2 * StoredPlane.bytes(of: reduced, blockRows: side)
  }

  /// Whether the planes can be turned: where a side is reversed, its last sample must not stand for columns or rows beyond the
  /// picture's, since it becomes the first.
  static func canTurn(_ size: PictureSize, to orientation: Orientation, eighths: Int, chroma: ChromaSampling) -> Bool {
    let (columns, rows) = (orientation.reversesColumns, orientation.reversesRows)
    // A decoder that reduces a picture delivers such chroma in the size of luma.
    let delivered = eighths < 8 && chroma == .yuv420 ? .yuv444 : chroma
    func isWhole(_ length: Int, _ shared: Int) -> Bool { length * eighths % (8 * shared) == 0 }
    let (width, height) = orientation.transposes ? (rows, columns) : (columns, rows)
    return (!width || isWhole(size.width, delivered.horizontal))
      && (!height || isWhole(size.height, delivered.vertical))
  }

  func reduce(toEighths eighths: Int) { decoder.reduce(toEighths: eighths) }

  /// Reads all planes.
  func startPlanes(isCancelled: () -> Bool) throws(ImagingError) {
    try decoder.startPlanes(isCancelled: isCancelled)
    let planes = decoder.planes
    for plane in planes { held.append(try StoredPlane(plane.size, blockRows: plane.blockRows)) }
    let rows = BlockRowPointers(planes.map(\.blockRows))
    var block = 0
    while block * planes[0].blockRows < planes[0].size.height {
      if isCancelled() { throw .cancelled }
      try decoder.readBlocks(into: rows.pointing { held[$0].row(block * planes[$0].blockRows + $1) })
      block += 1
    }
    // Both sides of chroma have their whole size, or none, if the decoder reduces the picture.
    let vertical = planes[0].blockRows / planes[1].blockRows
    let horizontal = vertical < chroma.vertical ? 1 : chroma.horizontal
    let shared = orientation.transposes ? horizontal : vertical
    blockRows = [Self.side, Self.side / shared, Self.side / shared]
    let columns = (planes.map { max($0.size.width, $0.size.height) }.max() ?? 0) + Self.side
    surplus = PackedRow(width: columns, layout: PixelLayout(isGrey: true, hasAlpha: false, is16Bit: false))
  }

  var planes: [(size: PictureSize, blockRows: Int)] {
    zip(held, blockRows).map { (orientation.transposes ? $0.size.transposed : $0.size, $1) }
  }

  func readBlocks(into planes: PlanePointers) throws(ImagingError) {
    for (index, plane) in held.enumerated() {
      guard let rows = planes[index] else { continue }
      let first = next * blockRows[index]
      if orientation.transposes {
        transpose(plane, from: first, into: rows, count: blockRows[index])
      } else {
        flip(plane, from: first, into: rows, count: min(blockRows[index], plane.size.height - first))
      }
    }
    next += 1
  }

  func finish() throws(ImagingError) { try decoder.finish() }

  private func transpose(
    _ plane: StoredPlane, from first: Int, into rows: UnsafeMutablePointer<PlaneSamples?>, count: Int
  ) {
    let (size, side) = (plane.size, Self.side)
    let column = orientation.reversesRows ? size.width - first - side : first
    let start = plane.row(orientation.reversesColumns ? size.height - 1 : 0) + column
    let nextRow = orientation.reversesColumns ? -plane.stride : plane.stride
    withUnsafeTemporaryAllocation(of: PlaneSamples?.self, capacity: side) { targets in
      for index in 0..<side {
        let row = orientation.reversesRows ? side - 1 - index : index
        targets.initializeElement(
          at: index, to: row < count ? rows[row] : surplus?.bytes.assumingMemoryBound(to: UInt8.self))
      }
      cplanes_transpose(start, nextRow, Int32((size.height + side - 1) / side), targets.baseAddress)
    }
  }

  /// Reverses the rows, and each of them if the picture is rotated.
  private func flip(
    _ plane: StoredPlane, from first: Int, into rows: UnsafeMutablePointer<PlaneSamples?>, count: Int
  ) {
    let width = plane.size.width
    for index in 0..<count {
      guard let row = rows[index] else { continue }
      let source = plane.row(plane.size.height - 1 - first - index)
      if orientation.reversesColumns {
        for column in 0..<width { row[column] = source[width - 1 - column] }
      } else {
        row.update(from: source, count: width)
      }
    }
  }
}
