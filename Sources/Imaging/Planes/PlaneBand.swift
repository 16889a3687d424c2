import CJPEG

/// Samples of a row of a plane.
typealias PlaneSamples = UnsafeMutablePointer<UInt8>

/// Rows of the three planes of a YCbCr picture, as many as are worked on at once.
final class PlaneBand {
  /// A component's part.
  struct Plane {
    /// The first sample of the first row.
    let base: UnsafeMutablePointer<UInt8>
    /// Samples of a row: those of whole vectors and whole blocks.
    let width: Int
    /// Samples from one row to the next: there is a margin between.
    let stride: Int
    /// Rows.
    let count: Int
    /// How many luma columns and rows share a sample.
    let sharing: ChromaSampling

    /// The first sample of a row.
    func row(_ index: Int) -> UnsafeMutablePointer<UInt8> { base + index * stride }

    /// Makes everything right of `width` and below `height`, the samples of the picture that the band holds, equal to
    /// the last column and row; one sample of the margin on each side, too.
    func extend(width: Int, height: Int) {
      for index in 0..<height {
        let row = row(index)
        (row + width).update(repeating: row[width - 1], count: self.width - width + 1)
        row[-1] = row[0]
      }
      for index in height..<max(count, height) { copy(row(height - 1), to: index) }
    }

    /// Makes the row before the first that of the band above, and the row behind the last that of the band below; without
    /// such bands, the first and the last row.
    func surround(above: Plane?, below: Plane?) {
      copy(above?.row(count - 1) ?? row(0), to: -1)
      copy(below?.row(0) ?? row(count - 1), to: count)
    }

    private func copy(_ source: PlaneSamples, to index: Int) {
      (row(index) - 1).update(from: source - 1, count: width + 2)
    }
  }

  /// Samples between rows: room for the neighbours of the first and the last of a row.
  private static let margin = 16
  /// Luma rows of a band: whole blocks of every sampling that is worked on.
  static let lumaRows = 16

  /// Y, Cb and Cr.
  let planes: [Plane]
  private let memory: UnsafeMutablePointer<UInt8>
  private let rowPointers: UnsafeMutablePointer<JSAMPROW?>
  private let planePointers: UnsafeMutablePointer<JSAMPARRAY?>

  /// Memory for a band of a picture `width` pixels wide.
  init(width: Int, sharing: ChromaSampling) {
    let sharings = [.full, sharing, sharing]
    let widths = sharings.map { (width + 63) / 64 * 64 / $0.horizontal }
    let counts = sharings.map { Self.lumaRows / $0.vertical }
    // A row before the first and one behind the last.
    let total = zip(widths, counts).map { ($0 + Self.margin) * ($1 + 2) }.reduce(Self.margin, +)
    memory = .allocate(capacity: total)
    memory.initialize(repeating: 0, count: total)
    rowPointers = .allocate(capacity: 3 * Self.lumaRows)
    rowPointers.initialize(repeating: nil, count: 3 * Self.lumaRows)
    planePointers = .allocate(capacity: 3)
    planePointers.initialize(repeating: nil, count: 3)
    var base = memory + Self.margin
    var planes: [Plane] = []
    for (index, sharing) in sharings.enumerated() {
      let stride = widths[index] + Self.margin
      let plane = Plane(
        base: base + stride, width: widths[index], stride: stride, count: counts[index], sharing: sharing)
      for row in 0..<plane.count { rowPointers[index * Self.lumaRows + row] = plane.row(row) }
      base += stride * (plane.count + 2)
      planes.append(plane)
    }
    self.planes = planes
  }

  deinit {
    memory.deallocate()
    rowPointers.deallocate()
    planePointers.deallocate()
  }

  /// Gives the planes the rows next to them, those of the bands above and below.
  func surround(above: PlaneBand?, below: PlaneBand?) {
    for (index, plane) in planes.enumerated() {
      plane.surround(above: above?.planes[index], below: below?.planes[index])
    }
  }

  /// The rows of all planes from some luma row on, as libjpeg takes them; good until the next call.
  func rows(from lumaRow: Int) -> JSAMPIMAGE {
    for (index, plane) in planes.enumerated() {
      planePointers[index] = rowPointers + index * Self.lumaRows + lumaRow / plane.sharing.vertical
    }
    return planePointers
  }
}
