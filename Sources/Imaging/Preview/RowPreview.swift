import CPlanes

/// Makes the preview of a picture from its rows: the mean of each square of pixels, over white where they are translucent. Of
/// large squares only some rows count, evenly distributed: summing the columns of all rows would take noticeable time. A
/// failure only means that there is no preview.
final class RowPreview {
  private let factor: Int
  /// The first of this many rows of a square counts: at least three of a square, if it has as many.
  private let step: Int
  private let rowCount: Int
  /// The sums of the rows since the last row of the preview, column by column. Colours of rows with alpha are summed as
  /// (colour − 1) · alpha, which is their difference to white after flattening.
  private let sums: RowBuffer
  private let hasAlpha: Bool
  private let means: RowBuffer
  private let destination = JPEGDestination(inMemory: PreviewScale.maxBytes)
  private var encoder: JPEGEncoder?
  private var summed = 0
  private var inSquare = 0
  private var passed = 0

  /// Prepares the preview of a picture with rows of this size and layout.
  init(_ scale: PreviewScale, of size: PictureSize, layout: PixelLayout) {
    let opaque = PixelLayout(isGrey: layout.isGrey, hasAlpha: false, is16Bit: false)
    factor = scale.factor
    step = max(1, factor / 3)
    rowCount = size.height
    hasAlpha = layout.hasAlpha
    sums = RowBuffer(width: size.width, layout: opaque)
    means = RowBuffer(width: scale.size.width, layout: opaque)
    encoder = try? JPEGEncoder(destination, scale.encodeSettings(isGrey: layout.isGrey), planes: false)
  }

  /// Adds the next row.
  func add(_ row: PixelRow) {
    guard encoder != nil else { return }
    if inSquare % step == 0 {
      summed += 1
      for plane in 0..<sums.row.planeCount {
        cplanes_add_floats(
          .supported, sums.row.samples(plane), row.samples(plane), hasAlpha ? row.samples(row.planeCount - 1) : nil,
          Int32(8 * row.vectors))
      }
    }
    (inSquare, passed) = (inSquare + 1, passed + 1)
    if inSquare == factor || passed == rowCount { writeRow() }
  }

  /// Writes the means of the summed rows, and starts again.
  private func writeRow() {
    for plane in 0..<sums.row.planeCount {
      cplanes_average_floats(
        sums.row.samples(plane), Int32(sums.row.width), Int32(factor), Int32(summed), hasAlpha ? 1 : 0,
        means.row.samples(plane))
    }
    sums.row.clear()
    (summed, inSquare) = (0, 0)
    if (try? encoder?.write(means.row, isCancelled: { false })) == nil { encoder = nil }
  }

  /// The preview, after the last row; nil when there is none.
  func finish() -> [UInt8]? {
    guard let encoder, passed == rowCount, (try? encoder.finish { false }) != nil else { return nil }
    return destination.contents
  }
}
