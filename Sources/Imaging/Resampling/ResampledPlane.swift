import CPlanes

/// A stored plane, resampled to a plane of the result. Neighbouring samples are averaged first where the result has fewer of
/// them. As `ResampledColumns` and `ScatteredRows` for rows of grey, but in integers: a few samples in a thousand differ by 1.
final class ResampledPlane {
  /// The size of the resampled plane.
  let size: PictureSize
  private let reader: PlaneReader
  private let plane: Int
  private let columns: PairedWeights
  private let rows: PairedWeights
  /// The columns and rows of the plane to resample.
  private let joined: PictureSize
  /// Stored columns and rows per sample, 1 or 2.
  private let shared: ChromaSampling
  private let instructions: cplanes_instructions
  private let scratch: UnsafeMutablePointer<Int16>
  /// The last resampled rows in pairs, each pair at its index modulo `capacity`.
  private let held: UnsafeMutablePointer<Int16>
  private let capacity: Int
  /// The samples of a pair of rows.
  private let stride: Int
  private let pointers: UnsafeMutablePointer<UnsafePointer<Int16>?>
  private var nextRow = 0
  private var nextPair = 0

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
    let (columns, rows) = (PairedWeights.resizing(plan.columns), PairedWeights.resizing(plan.rows))
    let joined = PictureSize(width: plan.columns.length, height: plan.rows.length)
    return planes.map {
      ResampledPlane(reader, plane: $0, columns: columns, rows: rows, joined: joined, instructions)
    }
  }

  private init(
    _ reader: PlaneReader, plane: Int, columns: PairedWeights, rows: PairedWeights, joined: PictureSize,
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
    scratch = .allocateCacheLines(capacity: (joined.width + 15) / 16 * 16 * Self.groupRows)
    // Whole vectors of twice 16.
    stride = 2 * ((size.width + 31) / 32 * 32)
    capacity = rows.maxCount + Self.groupRows / 2
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
    let range = rows.range(of: nextRow)
    while nextPair < range.upperBound { try readGroup() }
    var slot = range.lowerBound % capacity
    for offset in 0..<range.count {
      pointers[offset] = UnsafePointer(held + slot * stride)
      slot = slot + 1 == capacity ? 0 : slot + 1
    }
    cplanes_resample_rows(
      instructions, pointers, rows.pairs[nextRow].weights, Int32(range.count), Int32(size.width), samples)
    nextRow += 1
  }

  /// Resamples the columns of the next group of rows; of the last row again where there are fewer.
  private func readGroup() throws(ImagingError) {
    let stored = reader.size(of: plane)
    let first = 2 * nextPair * shared.vertical
    try reader.readRows(first..<min(first + Self.groupRows * shared.vertical, stored.height), of: plane)
    var group = cplanes_group()
    (group.width, group.columns) = (Int32(joined.width), scratch)
    (group.shared_columns, group.shared_rows) = (Int32(shared.horizontal), Int32(shared.vertical))
    withUnsafeMutableBytes(of: &group.upper) { upper in
      withUnsafeMutableBytes(of: &group.lower) { lower in
        for index in 0..<Self.groupRows {
          let top = min(first + index * shared.vertical, stored.height - 1)
          upper.storeBytes(of: source(top, stored), toByteOffset: 8 * index, as: PlaneSamples.self)
          lower.storeBytes(
            of: source(min(top + shared.vertical, stored.height) - 1, stored), toByteOffset: 8 * index,
            as: PlaneSamples.self)
        }
      }
    }
    withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Int16>?.self, capacity: Self.groupRows / 2) { results in
      for index in 0..<results.count {
        results.initializeElement(at: index, to: held + (nextPair + index) % capacity * stride)
      }
      cplanes_resample_group(instructions, &group, columns.pairs, Int32(size.width), results.baseAddress)
    }
    nextPair += Self.groupRows / 2
  }

  /// A stored row, with a sample after the last where it makes a pair.
  private func source(_ index: Int, _ stored: PictureSize) -> PlaneSamples {
    let row = reader.row(index, of: plane)
    if shared.horizontal == 2, stored.width % 2 == 1 { row[stored.width] = row[stored.width - 1] }
    return row
  }
}
