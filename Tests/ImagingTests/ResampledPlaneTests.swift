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

    init(_ sizes: [PictureSize], blockRows: [Int]) {
      var chance = SplitMix64(seed: 5)
      planes = zip(sizes, blockRows).map { ($0, $1) }
      samples = sizes.map { size in
        // Jumps between extremes overshoot.
        (0..<size.height).map { _ in
          (0..<size.width).map { _ in Bool.random(using: &chance) ? .random(in: 0...255, using: &chance) : 255 }
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
  ]

  private static let halfColumns = ChromaSampling(horizontal: 2, vertical: 1)
  private static let samplings: [ChromaSampling] = [.yuv444, halfColumns, halfColumns.transposed, .yuv420]

  @Test(
    "the samples are those of rows of grey, with the instructions of every processor", arguments: samplings,
    cplanes_instructions.all)
  func rows(_ sampling: ChromaSampling, _ instructions: cplanes_instructions) throws {
    for (luma, size) in Self.sizes {
      for isPart in [false, true] {
        var plan = ResamplingPlan(
          columns: ResamplingAxis(length: luma.width, count: size.width),
          rows: ResamplingAxis(length: luma.height, count: size.height))
        if isPart {
          let width = Double(luma.width) * 0.75
          guard width >= Double(size.width) else { continue }
          plan = ResamplingPlan(
            columns: ResamplingAxis(length: luma.width, start: 3.5, extent: width, count: size.width), rows: plan.rows)
        }
        try compare(plan, of: luma, sampling, instructions)
      }
    }
  }

  /// Compares all planes of a picture whose chroma is stored with the size of luma.
  private func compare(
    _ plan: ResamplingPlan, of luma: PictureSize, _ sampling: ChromaSampling, _ instructions: cplanes_instructions
  ) throws {
    // As small as rows of blocks become, and as large.
    for blockRows in [1, 16] {
      let noise = Noise([luma, luma, luma], blockRows: [blockRows, blockRows, blockRows])
      let reader = try PlaneReader(noise) { false }
      let chroma = plan.subsampled(sampling)
      let planes =
        ResampledPlane.make(reader, planes: 0..<1, plan, instructions)
        + ResampledPlane.make(reader, planes: 1..<3, chroma, instructions)
      let band = PlaneBand(width: plan.size.width, sampling: sampling)
      let expected = zip(noise.samples, [(plan, .yuv444), (chroma, sampling), (chroma, sampling)]).map {
        samples, way in way.0.rows(from: Means(samples, way.1))
      }
      for top in stride(from: 0, to: plan.size.height, by: PlaneBand.lumaRows) {
        for (index, plane) in planes.enumerated() {
          try plane.read(into: band.planes[index])
          let rows = expected[index]
          let (row, packed) = (
            RowBuffer(width: rows.size.width, layout: rows.layout),
            PackedRow(width: rows.size.width, layout: rows.layout)
          )
          let stored = band.planes[index]
          for line in 0..<min(stored.count, rows.size.height - top / stored.sampling.vertical) {
            try rows.read(into: row.row)
            row.row.pack(packed)
            let grey = UnsafeRawBufferPointer(start: packed.bytes, count: rows.size.width)
            #expect(
              grey.elementsEqual(UnsafeBufferPointer(start: stored.row(line), count: rows.size.width)),
              "\(plan), plane \(index), row \(top / stored.sampling.vertical + line), blocks of \(blockRows)")
          }
        }
      }
    }
  }
}
