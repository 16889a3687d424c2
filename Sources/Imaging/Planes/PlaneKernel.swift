import CPlanes

/// Applies affine colour stages to the planes of a YCbCr picture, two rows at a time and 32 columns at once, in 16-bit
/// integers.
///
/// Chroma that luma samples share is interpolated as decoders do, but where neighbours hardly differ a sample stands for
/// all luma samples that share it. Each pixel becomes red, green and blue, limited to 0…255
/// as a decoder does (ITU-T T.871 § 7), passes the stages, each limited, and becomes YCbCr again; chroma is the mean over
/// the pixels that share it. So pixels that clip count as what they look like.
///
/// The loops themselves are in `CPlanes`; what they compute is the same to the bit on every processor.
final class PlaneKernel {
  /// From chroma to red, green (twice) and blue: ITU-T T.871 § 7, times 2¹⁴. The shares of red and blue in luma, times
  /// 2¹⁶; then the factors of blue and red above luma, times 2¹⁵. The least and the greatest sample, times 64.
  private static let conversions: [Int16] = [22970, 5638, 11700, 29032, 19595, 7471, 18492, 23373, 0, 255 * 64]

  private let memory: UnsafeMutablePointer<cplanes_vector>
  private let numbers: cplanes_kernel
  private let isPortable: Bool

  /// A kernel of stages, of which none is the same as one that changes nothing; nil when their numbers are too large for it.
  /// - Parameter isPortable: Whether to do without vectors that only some processors have.
  init?(_ stages: [AffineColour], isPortable: Bool = false) {
    let stages = stages.isEmpty ? [.identity] : stages
    guard let all = PlaneStages(stages) else { return nil }
    let shortcut = stages.count == 1 ? PlaneShortcut(stages[0]) : nil
    let limits = stages.count == 1 ? PlaneLimits(stages[0]) : nil
    let tables = [Self.conversions, all.numbers, shortcut?.numbers ?? [], limits?.numbers ?? []]
    let starts = tables.reduce(into: [0]) { starts, table in starts.append(starts[starts.count - 1] + table.count) }
    // C wants these vectors at multiples of their size, Swift at multiples of 16 bytes.
    let size = MemoryLayout<cplanes_vector>.size
    memory = UnsafeMutableRawPointer.allocate(byteCount: starts[tables.count] * size, alignment: size)
      .bindMemory(to: cplanes_vector.self, capacity: starts[tables.count])
    for (index, number) in tables.joined().enumerated() {
      (memory + index).initialize(to: cplanes_vector(repeating: number))
    }
    numbers = cplanes_kernel(
      conversions: memory, stages: memory + starts[1], stage_count: Int32(stages.count),
      shortcut: shortcut != nil && limits != nil ? UnsafeRawPointer(memory + starts[2]) : nil,
      bounds: memory + starts[3], bound_count: Int32(limits?.count ?? 0), bound_extremes: limits?.extremes ?? 0)
    self.isPortable = isPortable
  }

  deinit { memory.deallocate() }

  /// Computes the luma rows `row` and `row + 1` of one band, and the chroma that belongs to them, from another, which is
  /// surrounded. Both are as wide; `row` is even.
  func apply(to source: PlaneBand, row: Int, into result: PlaneBand) {
    let apply = isPortable ? cplanes_apply_portable : cplanes_apply
    let (rows, newRows) = (cplanes_rows(source, row: row), cplanes_rows(result, row: row))
    // What they point to is not to end before: the kernel's memory and the bands'.
    withExtendedLifetime((self, source, result)) {
      withUnsafePointer(to: numbers) { apply($0, rows, newRows, Int32(source.planes[0].width / 32)) }
    }
  }
}

extension cplanes_rows {
  /// The rows `row` and `row + 1` of a band.
  fileprivate init(_ band: PlaneBand, row: Int) {
    let (planes, sharing) = (band.planes, band.planes[1].sharing)
    func pair(_ plane: PlaneBand.Plane) -> cplanes_pair {
      cplanes_pair(
        upper: plane.row(row / plane.sharing.vertical), lower: plane.row((row + 1) / plane.sharing.vertical))
    }
    self.init(
      luma: pair(planes[0]), blue: pair(planes[1]), red: pair(planes[2]),
      next_row: sharing.vertical == 2 ? planes[1].stride : 0, shared_columns: Int32(sharing.horizontal),
      shared_rows: Int32(sharing.vertical))
  }
}
