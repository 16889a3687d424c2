import CJPEG

/// Rows of the three planes of a YCbCr picture, as many as are worked on at once.
final class PlaneBand {
  /// A component's part.
  struct Plane {
    /// The first sample of the first row.
    let base: UnsafeMutablePointer<UInt8>
    /// Samples from one row to the next: those of whole vectors and whole blocks.
    let stride: Int
    /// Rows.
    let count: Int
    /// How many luma columns and rows share a sample.
    let sharing: ChromaSampling

    /// The first sample of a row.
    func row(_ index: Int) -> UnsafeMutablePointer<UInt8> { base + index * stride }

    /// Makes everything right of `width` and below `height`, the samples of the picture that the band holds, equal to
    /// the last column and row.
    func extend(width: Int, height: Int) {
      for index in 0..<height {
        let row = row(index)
        (row + width).update(repeating: row[width - 1], count: stride - width)
      }
      for index in height..<max(count, height) {
        row(index).update(from: row(height - 1), count: stride)
      }
    }
  }

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
    let strides = sharings.map { (width + 63) / 64 * 64 / $0.horizontal }
    let counts = sharings.map { Self.lumaRows / $0.vertical }
    let total = zip(strides, counts).map { $0 * $1 }.reduce(0, +)
    memory = .allocate(capacity: total)
    memory.initialize(repeating: 0, count: total)
    rowPointers = .allocate(capacity: 3 * Self.lumaRows)
    rowPointers.initialize(repeating: nil, count: 3 * Self.lumaRows)
    planePointers = .allocate(capacity: 3)
    planePointers.initialize(repeating: nil, count: 3)
    var base = memory
    var planes: [Plane] = []
    for (index, sharing) in sharings.enumerated() {
      let plane = Plane(base: base, stride: strides[index], count: counts[index], sharing: sharing)
      for row in 0..<plane.count { rowPointers[index * Self.lumaRows + row] = plane.row(row) }
      base += plane.stride * plane.count
      planes.append(plane)
    }
    self.planes = planes
  }

  deinit {
    memory.deallocate()
    rowPointers.deallocate()
    planePointers.deallocate()
  }

  /// The rows of all planes from some luma row on, as libjpeg takes them; good until the next call.
  func rows(from lumaRow: Int) -> JSAMPIMAGE {
    for (index, plane) in planes.enumerated() {
      planePointers[index] = rowPointers + index * Self.lumaRows + lumaRow / plane.sharing.vertical
    }
    return planePointers
  }
}
