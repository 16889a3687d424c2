import CPlanes

/// A stored plane, resampled to a plane of the result. Neighbouring samples are averaged first where the result has fewer of
/// them. Gives the same samples as `ResampledColumns` and `ScatteredRows` for rows of grey, but holds integers up to the loops that
/// resample.
final class ResampledPlane {
  /// The size of the resampled plane.
  let size: PictureSize
  private let reader: PlaneReader
  private let plane: Int
  private let columns: ResamplingWeights
  private let rows: ResamplingWeights
  /// The columns and rows of the plane to resample.
  private let joined: PictureSize
  /// Stored columns and rows per sample, 1 or 2.
  private let shared: ChromaSampling
  private let instructions: cplanes_instructions
  private let scratch: UnsafeMutablePointer<Float>
  /// The last resampled rows, each at its index modulo `capacity`.
  private let held: UnsafeMutablePointer<Float>
  private let capacity: Int
  private let stride: Int
  private let pointers: UnsafeMutablePointer<UnsafePointer<Float>?>
  private var nextRow = 0
  private var nextInput = 0

  /// Rows that are resampled to other columns at once; as many may be read ahead.
  static let groupRows = Int(cplanes_group_rows)

  /// Creates planes that are resampled by the same plan.
  /// - Parameters:
  ///   - plan: The plan for the planes.
  ///   - instructions: The instructions that are used, which the processor must have. Default: the last supported ones.
  static func make(
    _ reader: PlaneReader, planes: Range<Int>, _ plan: ResamplingPlan,
    _ instructions: cplanes_instructions = .supported
  ) -> [ResampledPlane] {
    let (columns, rows) = (ResamplingWeights.resizing(plan.columns), ResamplingWeights.resizing(plan.rows))
    let joined = PictureSize(width: plan.columns.length, height: plan.rows.length)
    return planes.map {
      ResampledPlane(reader, plane: $0, columns: columns, rows: rows, joined: joined, instructions)
    }
  }

  private init(
    _ reader: PlaneReader, plane: Int, columns: ResamplingWeights, rows: ResamplingWeights, joined: PictureSize,
    _ instructions: cplanes_instructions
  ) {
    let stored = reader.size(of: plane)
    (self.reader, self.plane, self.columns, self.rows) = (reader, plane, columns, rows)
    (self.joined, self.instructions) = (joined, instructions)
    size = PictureSize(width: columns.count, height: rows.count)
    shared = ChromaSampling(
      horizontal: joined.width < stored.width ? 2 : 1, vertical: joined.height < stored.height ? 2 : 1)
    // The loops in C read what the plan says.
    precondition(
      (stored.width + shared.horizontal - 1) / shared.horizontal == joined.width
        && (stored.height + shared.vertical - 1) / shared.vertical == joined.height, "the plan is of another plane")
    scratch = .allocateCacheLines(capacity: (joined.width + 7) / 8 * 8 * Self.groupRows)
    // Whole vectors of four times 8.
    stride = (size.width + 31) / 32 * 32
    capacity = rows.maxCount + Self.groupRows
    held = .allocateCacheLines(capacity: capacity * stride)
    held.initialize(repeating: 0, count: capacity * stride)
    pointers = .allocate(capacity: rows.maxCount)
    pointers.initialize(repeating: nil, count: rows.maxCount)
  }

  deinit {
    scratch.deallocate()
    held.deallocate()
    pointers.deallocate()
  }

  /// Writes the next rows, as many as the band has or are left, and pads them.
  func read(into band: PlaneBand.Plane) throws(ImagingError) {
    let count = min(band.count, size.height - nextRow)
    for index in 0..<count { try read(into: band.row(index)) }
    band.extend(width: size.width, height: count)
  }

  private func read(into samples: PlaneSamples) throws(ImagingError) {
    let range = rows.ranges[nextRow]
    while nextInput < range.upperBound { try readGroup() }
    var slot = range.lowerBound % capacity
    for offset in 0..<range.count {
      pointers[offset] = UnsafePointer(held + slot * stride)
      slot = slot + 1 == capacity ? 0 : slot + 1
    }
    cplanes_resample_rows(
      instructions, pointers, rows.weights(for: nextRow), Int32(range.count), Int32(size.width), samples)
    nextRow += 1
  }

  private func row(_ input: Int) -> UnsafeMutablePointer<Float> { held + input % capacity * stride }

  /// Resamples the columns of the next group of rows; of the last row again where there are fewer.
  private func readGroup() throws(ImagingError) {
    let stored = reader.size(of: plane)
    let first = nextInput * shared.vertical
    try reader.readRows(first..<min(first + Self.groupRows * shared.vertical, stored.height), of: plane)
    var group = cplanes_group()
    (group.width, group.columns) = (Int32(joined.width), scratch)
    (group.shared_columns, group.shared_rows) = (Int32(shared.horizontal), Int32(shared.vertical))
    withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Float>?.self, capacity: Self.groupRows) { results in
      withUnsafeMutableBytes(of: &group.upper) { upper in
        withUnsafeMutableBytes(of: &group.lower) { lower in
          for index in 0..<Self.groupRows {
            let top = min(first + index * shared.vertical, stored.height - 1)
            upper.storeBytes(of: source(top, stored), toByteOffset: 8 * index, as: PlaneSamples.self)
            lower.storeBytes(
              of: source(min(top + shared.vertical, stored.height) - 1, stored), toByteOffset: 8 * index,
              as: PlaneSamples.self)
            results.initializeElement(at: index, to: row(nextInput + index))
          }
        }
      }
      cplanes_resample_group(instructions, &group, columns.taps, Int32(size.width), results.baseAddress)
    }
    nextInput = min(nextInput + Self.groupRows, joined.height)
  }

  /// A stored row, with a sample after the last where it makes a pair.
  private func source(_ index: Int, _ stored: PictureSize) -> PlaneSamples {
    let row = reader.row(index, of: plane)
    if shared.horizontal == 2, stored.width % 2 == 1 { row[stored.width] = row[stored.width - 1] }
    return row
  }
}
