/// The samples of a row of a plane.
typealias PlaneSamples = UnsafeMutablePointer<UInt8>

/// A band of rows of the three planes of a YCbCr picture, the unit of processing.
final class PlaneBand {
  /// The band's rows of one plane.
  struct Plane {
    /// The first sample of the first row.
    let base: UnsafeMutablePointer<UInt8>
    /// Samples of a row, padded to whole vectors and whole blocks.
    let width: Int
    /// Samples from one row to the next, margin included.
    let stride: Int
    /// Rows.
    let count: Int
    /// The luma columns and rows per sample.
    let sampling: ChromaSampling

    /// The first sample of a row.
    func row(_ index: Int) -> UnsafeMutablePointer<UInt8> { base + index * stride }

    /// Pads the picture's samples, `width` columns and `height` rows, by repeating the last column and row, and one sample
    /// of the margin on each side.
    func extend(width: Int, height: Int) {
      for index in 0..<height {
        let row = row(index)
        (row + width).update(repeating: row[width - 1], count: self.width - width + 1)
        row[-1] = row[0]
      }
      for index in height..<max(count, height) { copy(row(height - 1), to: index) }
    }

    /// Copies the last row of the band above before the first row, and the first row of the band below after the last;
    /// without such bands, the first and the last row.
    func surround(above: Plane?, below: Plane?) {
      copy(above?.row(count - 1) ?? row(0), to: -1)
      copy(below?.row(0) ?? row(count - 1), to: count)
    }

    private func copy(_ source: PlaneSamples, to index: Int) {
      (row(index) - 1).update(from: source - 1, count: width + 2)
    }
  }

  /// Samples between rows, for the neighbours of the first and the last sample.
  private static let margin = 16
  /// Luma rows of a band: whole blocks of every supported sampling.
  static let lumaRows = 16

  /// Y, Cb and Cr.
  let planes: [Plane]
  private let memory: UnsafeMutablePointer<UInt8>
  private let rowPointers: UnsafeMutablePointer<PlaneSamples?>
  private let planePointers: PlanePointers

  /// Allocates a band of a picture `width` pixels wide.
  init(width: Int, sampling: ChromaSampling) {
    let samplings = [.yuv444, sampling, sampling]
    let widths = samplings.map { (width + 63) / 64 * 64 / $0.horizontal }
    let counts = samplings.map { Self.lumaRows / $0.vertical }
    // With a row before the first and one after the last.
    let total = zip(widths, counts).map { ($0 + Self.margin) * ($1 + 2) }.reduce(Self.margin, +)
    memory = .allocate(capacity: total)
    memory.initialize(repeating: 0, count: total)
    rowPointers = .allocate(capacity: 3 * Self.lumaRows)
    rowPointers.initialize(repeating: nil, count: 3 * Self.lumaRows)
    planePointers = .allocate(capacity: 3)
    planePointers.initialize(repeating: nil, count: 3)
    var base = memory + Self.margin
    var planes: [Plane] = []
    for (index, sampling) in samplings.enumerated() {
      let stride = widths[index] + Self.margin
      let plane = Plane(
        base: base + stride, width: widths[index], stride: stride, count: counts[index], sampling: sampling)
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

  /// Copies the adjacent rows of the bands above and below to all planes.
  func surround(above: PlaneBand?, below: PlaneBand?) {
    for (index, plane) in planes.enumerated() {
      plane.surround(above: above?.planes[index], below: below?.planes[index])
    }
  }

  /// The rows of all planes from a luma row on; valid until the next call.
  func rows(from lumaRow: Int) -> PlanePointers {
    for (index, plane) in planes.enumerated() {
      planePointers[index] = rowPointers + index * Self.lumaRows + lumaRow / plane.sampling.vertical
    }
    return planePointers
  }
}
