import CPlanes

/// Applies affine colour stages to the planes of a YCbCr picture, two rows and 32 columns at a time, in 16-bit integers.
///
/// Subsampled chroma is interpolated as in decoders, except where neighbours are nearly equal. Each pixel is converted to red,
/// green and blue, clamped to 0…255 as in a decoder (ITU-T T.871 § 7), passes the stages, each clamped, and is converted
/// back; output chroma is the mean over the pixels of a sample. Clipped pixels therefore count with their visible colour.
///
/// The loops are in `CPlanes`; their results are identical on every processor.
final class PlaneKernel {
  /// The factors from chroma to red, green (two) and blue (ITU-T T.871 § 7), times 2¹⁴; the weights of red and blue in
  /// luma, times 2¹⁶; the factors from the differences of blue and red to luma to chroma, times 2¹⁵; the minimum and maximum
  /// of samples, times 64.
  private static let conversions: [Int16] = [22970, 5638, 11700, 29032, 19595, 7471, 18492, 23373, 0, 255 * 64]

  private let memory: UnsafeMutablePointer<cplanes_vector>
  private let numbers: cplanes_kernel
  private let instructions: cplanes_instructions

  /// Creates a kernel of stages; none means the identity. Nil when coefficients do not fit into 16 bits.
  /// - Parameter instructions: The instructions that it uses, which the processor must have. Default: the last supported ones.
  init?(_ stages: [AffineColour], _ instructions: cplanes_instructions = .supported) {
    let stages = stages.isEmpty ? [.identity] : stages
    guard let all = PlaneStages(stages) else { return nil }
    let fastPath = stages.count == 1 ? PlaneFastPath(stages[0]) : nil
    let limits = stages.count == 1 ? PlaneLimits(stages[0]) : nil
    let tables = [Self.conversions, all.numbers, fastPath?.numbers ?? [], limits?.numbers ?? []]
    let starts = tables.reduce(into: [0]) { starts, table in starts.append(starts[starts.count - 1] + table.count) }
    // C requires alignment of these vectors to their size, Swift only to 16 bytes.
    let size = MemoryLayout<cplanes_vector>.size
    memory = UnsafeMutableRawPointer.allocate(byteCount: starts[tables.count] * size, alignment: size)
      .bindMemory(to: cplanes_vector.self, capacity: starts[tables.count])
    for (index, number) in tables.joined().enumerated() {
      (memory + index).initialize(to: cplanes_vector(repeating: number))
    }
    numbers = cplanes_kernel(
      conversions: memory, stages: memory + starts[1], stage_count: Int32(stages.count),
      fast_path: fastPath != nil && limits != nil ? UnsafeRawPointer(memory + starts[2]) : nil,
      bounds: memory + starts[3], bound_count: Int32(limits?.count ?? 0), bound_extremes: limits?.extremes ?? 0)
    self.instructions = instructions
  }

  deinit { memory.deallocate() }

  /// Computes the luma rows `row` and `row + 1` of `result` and their chroma from `source`, which has been surrounded. Both
  /// bands have the same width; `row` is even.
  func apply(to source: PlaneBand, row: Int, into result: PlaneBand) {
    let (rows, newRows) = (cplanes_rows(source, row: row), cplanes_rows(result, row: row))
    // Keeps the memory that the structures point to alive: the kernel's and the bands'.
    withExtendedLifetime((self, source, result)) {
      withUnsafePointer(to: numbers) {
        cplanes_apply(instructions, $0, rows, newRows, Int32(source.planes[0].width / 32))
      }
    }
  }
}

extension cplanes_rows {
  /// The rows `row` and `row + 1` of a band.
  fileprivate init(_ band: PlaneBand, row: Int) {
    let (planes, sampling) = (band.planes, band.planes[1].sampling)
    func pair(_ plane: PlaneBand.Plane) -> cplanes_pair {
      cplanes_pair(
        upper: plane.row(row / plane.sampling.vertical), lower: plane.row((row + 1) / plane.sampling.vertical))
    }
    self.init(
      luma: pair(planes[0]), blue: pair(planes[1]), red: pair(planes[2]),
      next_row: sampling.vertical == 2 ? planes[1].stride : 0, shared_columns: Int32(sampling.horizontal),
      shared_rows: Int32(sampling.vertical))
  }
}
