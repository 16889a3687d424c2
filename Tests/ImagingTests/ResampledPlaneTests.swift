import CPlanes
import TestSupport
import Testing

@testable import Imaging

/// Planes that are resampled as they are stored, compared with rows of grey.
@Suite struct ResampledPlaneTests {
  /// Noise with a sampling of 4:2:0, or chroma of the size of luma, as it is when a picture is reduced.
  private final class Noise: PlaneDecoder {
    let planes: [(size: PictureSize, blockRows: Int)]
    /// The samples of each plane, row by row.
    let samples: [[[UInt8]]]
    private var read = 0

    /// - Parameter colour: The value of all samples; nil for noise.
    init(_ sizes: [PictureSize], blockRows: [Int], colour: UInt8? = nil) {
      var chance = SplitMix64(seed: 5)
      planes = zip(sizes, blockRows).map { ($0, $1) }
      samples = sizes.map { size in
        // Jumps between extremes overshoot.
        (0..<size.height).map { _ in
          (0..<size.width).map { _ in
            colour ?? (Bool.random(using: &chance) ? .random(in: 0...255, using: &chance) : 255)
          }
        }
      }
    }

    func reduce(toEighths eighths: Int) {}
    func startPlanes(isCancelled: () -> Bool) {}
    func finish() {}

    func readBlocks(into pointers: PlanePointers) throws(ImagingError) {
      for (index, plane) in planes.enumerated() {
        for row in 0..<plane.blockRows {
          // Padding repeats the last row.
          let row = (row, min(read * plane.blockRows + row, plane.size.height - 1))
          let samples = samples[index][row.1]
          for (column, sample) in samples.enumerated() { pointers[index]?[row.0]?[column] = sample }
        }
      }
      read += 1
    }
  }

  /// The means of neighbouring samples of a plane, as rows of grey.
  private final class Means: RowSource {
    let size: PictureSize
    let layout = PixelLayout(isGrey: true, hasAlpha: false, is16Bit: false)
    private let samples: [[UInt8]]
    private let shared: ChromaSampling
    private var nextRow = 0

    init(_ samples: [[UInt8]], _ shared: ChromaSampling) {
      (self.samples, self.shared) = (samples, shared)
      size = PictureSize(
        width: (samples[0].count + shared.horizontal - 1) / shared.horizontal,
        height: (samples.count + shared.vertical - 1) / shared.vertical)
    }

    func read(into row: PixelRow) {
      for column in 0..<size.width {
        var sum = 0
        for y in 0..<shared.vertical {
          let stored = samples[min(nextRow * shared.vertical + y, samples.count - 1)]
          for x in 0..<shared.horizontal { sum += Int(stored[min(column * shared.horizontal + x, stored.count - 1)]) }
        }
        row.samples(0)[column] = Float(sum) * (1 / Float(255 * shared.horizontal * shared.vertical))
      }
      nextRow += 1
    }
  }

  /// The size of luma, and of the result.
  private static let sizes = [
    (PictureSize(width: 200, height: 120), PictureSize(width: 160, height: 96)),
    (PictureSize(width: 301, height: 111), PictureSize(width: 87, height: 28)),
    (PictureSize(width: 77, height: 61), PictureSize(width: 77, height: 31)),
    (PictureSize(width: 65, height: 40), PictureSize(width: 33, height: 40)),
    (PictureSize(width: 9, height: 70), PictureSize(width: 3, height: 18)),
    (PictureSize(width: 70, height: 3), PictureSize(width: 18, height: 1)),
    (PictureSize(width: 64, height: 48), PictureSize(width: 64, height: 48)),
    (PictureSize(width: 1, height: 1), PictureSize(width: 1, height: 1)),
    (PictureSize(width: 1, height: 17), PictureSize(width: 1, height: 9)),
    (PictureSize(width: 17, height: 1), PictureSize(width: 9, height: 1)),
    (PictureSize(width: 3, height: 2), PictureSize(width: 2, height: 1)),
  ]

  private static let halfColumns = ChromaSampling(horizontal: 2, vertical: 1)
  private static let samplings: [ChromaSampling] = [.yuv444, halfColumns, halfColumns.transposed, .yuv420]

  /// The plans of all sizes, of a part of the picture too.
  private static let plans: [(luma: PictureSize, plan: ResamplingPlan)] = sizes.flatMap { luma, size in
    let (columns, rows) = (
      ResamplingAxis(length: luma.width, count: size.width), ResamplingAxis(length: luma.height, count: size.height)
    )
    let width = Double(luma.width) * 0.75
    let part = ResamplingAxis(length: luma.width, start: 3.5, extent: width, count: size.width)
    return [(luma, ResamplingPlan(columns: columns, rows: rows))]
      + (width < Double(size.width) ? [] : [(luma, ResamplingPlan(columns: part, rows: rows))])
  }

  @Test(arguments: samplings)
  func `the samples are those of rows of grey, but for rounding`(_ sampling: ChromaSampling) throws {
    var (count, different) = (0, 0)
    for (luma, plan) in Self.plans {
      let noise = noise(luma, blockRows: 16)
      let chroma = plan.subsampled(sampling)
      let resampled = try resample(noise, plan, sampling, .supported)
      for (plane, way) in [(plan, ChromaSampling.yuv444), (chroma, sampling), (chroma, sampling)].enumerated() {
        let expected = try greyRows(way.0.rows(from: Means(noise.samples[plane], way.1)))
        #expect(resampled[plane].map(\.count) == expected.map(\.count))
        let differences = zip(resampled[plane].joined(), expected.joined()).map { abs(Int($0) - Int($1)) }
        #expect(differences.allSatisfy { $0 <= 1 }, "\(plan), plane \(plane)")
        count += differences.count
        different += differences.count { $0 > 0 }
      }
    }
    #expect(different * 200 < count, "\(different) of \(count)")
  }

  @Test(arguments: samplings, cplanes_instructions.all)
  func `the samples are the same with the instructions of every processor, and rows of blocks of every height`(
    _ sampling: ChromaSampling, _ instructions: cplanes_instructions
  ) throws {
    for (luma, plan) in Self.plans {
      let expected = try resample(noise(luma, blockRows: 16), plan, sampling, cplanes_baseline)
      // As small as rows of blocks become.
      let resampled = try resample(noise(luma, blockRows: 1), plan, sampling, instructions)
      #expect(resampled == expected, "\(plan)")
    }
  }

  @Test(arguments: samplings, [UInt8(0), 1, 77, 128, 254, 255])
  func `an area of one colour keeps it`(_ sampling: ChromaSampling, _ colour: UInt8) throws {
    for (luma, plan) in Self.plans {
      let area = Noise([luma, luma, luma], blockRows: [16, 16, 16], colour: colour)
      for plane in try resample(area, plan, sampling, .supported) {
        #expect(plane.joined().allSatisfy { $0 == colour }, "\(plan)")
      }
    }
  }

  /// Noise whose chroma has the size of luma.
  private func noise(_ luma: PictureSize, blockRows: Int) -> Noise {
    Noise([luma, luma, luma], blockRows: [blockRows, blockRows, blockRows])
  }

  /// The rows of all planes of a picture.
  private func resample(
    _ picture: Noise, _ plan: ResamplingPlan, _ sampling: ChromaSampling, _ instructions: cplanes_instructions
  ) throws -> [[[UInt8]]] {
    let reader = try PlaneReader(picture) { false }
    let planes =
      ResampledPlane.make(reader, planes: 0..<1, plan, instructions)
      + ResampledPlane.make(reader, planes: 1..<3, plan.subsampled(sampling), instructions)
    let band = PlaneBand(width: plan.size.width, sampling: sampling)
    var rows = planes.map { _ in [[UInt8]]() }
    for _ in stride(from: 0, to: plan.size.height, by: PlaneBand.lumaRows) {
      for (index, plane) in planes.enumerated() {
        try plane.read(into: band.planes[index])
        for line in 0..<min(band.planes[index].count, plane.size.height - rows[index].count) {
          rows[index].append(
            Array(UnsafeBufferPointer(start: band.planes[index].row(line), count: plane.size.width)))
        }
      }
    }
    return rows
  }

  private func greyRows(_ source: any RowSource) throws -> [[UInt8]] {
    let row = RowBuffer(width: source.size.width, layout: source.layout)
    let packed = PackedRow(width: source.size.width, layout: source.layout)
    return try (0..<source.size.height).map { _ in
      try source.read(into: row.row)
      row.row.pack(packed)
      return Array(UnsafeRawBufferPointer(start: packed.bytes, count: source.size.width))
    }
  }
}
