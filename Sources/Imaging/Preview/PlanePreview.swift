import CPlanes

/// Makes the preview of a picture from bands of its stored planes: means of Y, Cb and Cr, each over four times as many samples
/// where they are not subsampled. A failure only means that there is no preview.
final class PlanePreview {
  /// One plane on its way to the preview.
  private final class Plane {
    /// The size of the plane.
    let size: PictureSize
    /// Columns and rows of the plane for one sample of the preview.
    let factors: (columns: Int, rows: Int)
    /// The sums of the rows since the last row of the preview, column by column.
    let sums: UnsafeMutablePointer<UInt16>
    /// Columns of the preview's plane.
    let width: Int
    var summed = 0
    var passed = 0
    /// Rows in the band of the preview.
    var written = 0

    init(size: PictureSize, factors: (columns: Int, rows: Int), padded: Int) {
      (self.size, self.factors) = (size, factors)
      width = (size.width + factors.columns - 1) / factors.columns
      sums = .allocate(capacity: padded)
      sums.initialize(repeating: 0, count: padded)
    }

    deinit { sums.deallocate() }

    /// Adds rows of a band.
    func add(_ band: PlaneBand.Plane, into result: PlaneBand.Plane) {
      var row = 0
      let count = min(band.count, size.height - passed)
      while row < count {
        let rows = min(count - row, factors.rows - summed)
        cplanes_add_rows(.supported, sums, band.row(row), band.stride, Int32(rows), Int32(band.width))
        (row, summed, passed) = (row + rows, summed + rows, passed + rows)
        guard summed == factors.rows || passed == size.height else { continue }
        cplanes_average(
          sums, Int32(size.width), Int32(factors.columns), Int32(summed), result.row(written))
        (written, summed) = (written + 1, 0)
      }
    }
  }

  private let planes: [Plane]
  /// A band of the preview. It is full when a band of the picture ends, which has as many rows.
  private let band: PlaneBand
  private let destination = JPEGDestination(inMemory: PreviewScale.maxBytes)
  private var encoder: JPEGEncoder?

  /// Prepares the preview of a picture of this size from such bands.
  init(_ scale: PreviewScale, of size: PictureSize, passing: PlaneBand) {
    band = PlaneBand(width: scale.size.width, sampling: .yuv420)
    planes = zip(passing.planes, band.planes).map { stored, result in
      let (across, down) = (stored.sampling.horizontal, stored.sampling.vertical)
      return Plane(
        size: PictureSize(width: (size.width + across - 1) / across, height: (size.height + down - 1) / down),
        factors: (
          columns: scale.factor * result.sampling.horizontal / across,
          rows: scale.factor * result.sampling.vertical / down
        ), padded: stored.width)
    }
    encoder = try? JPEGEncoder(destination, scale.encodeSettings(isGrey: false), planes: true)
  }

  /// Adds the next band of the picture.
  func add(_ passing: PlaneBand) {
    guard let encoder else { return }
    for (index, plane) in planes.enumerated() { plane.add(passing.planes[index], into: band.planes[index]) }
    let luma = planes[0]
    guard luma.written == PlaneBand.lumaRows || luma.passed == luma.size.height else { return }
    for (plane, result) in zip(planes, band.planes) { result.extend(width: plane.width, height: plane.written) }
    if (try? encoder.writeBlocks(from: band, rows: luma.written)) == nil { self.encoder = nil }
    for plane in planes { plane.written = 0 }
  }

  /// The preview, after the last band; nil when there is none.
  func finish() -> [UInt8]? {
    guard let encoder, planes[0].passed == planes[0].size.height, (try? encoder.finish { false }) != nil else {
      return nil
    }
    return destination.contents
  }
}
