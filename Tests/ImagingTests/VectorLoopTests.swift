import CPlanes
import TestSupport
import Testing

@testable import Imaging

/// Loops over rows of floats.
@Suite struct VectorLoopTests {
  private static let baseline = cplanes_instructions.all[0]
  private var chance = SplitMix64(seed: 6)

  private mutating func noise(_ count: Int) -> [Float] {
    (0..<count).map { _ in Float(Int(chance.next() % 2001) - 500) / 1000 }
  }

  @Test(arguments: cplanes_instructions.all, [8, 16, 24, 200])
  mutating func `rows are added alike with the instructions of every processor`(
    _ instructions: cplanes_instructions, count: Int
  ) {
    let (samples, alpha, start) = (noise(count), noise(count), noise(count))
    func sums(_ instructions: cplanes_instructions) -> [[Float]] {
      var (plain, blended, scaled) = (start, start, start)
      cplanes_add_floats(instructions, &plain, samples, nil, Int32(count))
      cplanes_add_floats(instructions, &blended, samples, alpha, Int32(count))
      cplanes_add_product(instructions, &scaled, samples, 0.3, count)
      return [plain, blended, scaled]
    }
    let found = sums(instructions)
    #expect(found == sums(Self.baseline))
    #expect(found[0] == (0..<count).map { samples[$0] + start[$0] })
    #expect(found[1] == (0..<count).map { (samples[$0] - 1) * alpha[$0] + start[$0] })
    #expect(found[2] == (0..<count).map { start[$0] + samples[$0] * 0.3 })
  }

  @Test(arguments: cplanes_instructions.all)
  mutating func `columns are resampled alike with the instructions of every processor`(
    _ instructions: cplanes_instructions
  ) {
    for (length, count) in [(100, 40), (31, 7), (9, 9), (5, 60)] {
      let weights = ResamplingWeights(ResamplingAxis(length: length, count: count), .lanczos3)
      let columns = noise(8 * length)
      func resampled(_ instructions: cplanes_instructions) -> [Float] {
        var results = [Float](repeating: 0, count: 8 * count)
        cplanes_resample_columns(instructions, weights.taps, Int32(count), columns, &results)
        return results
      }
      let expected = (0..<8 * count).map { index in
        weights.ranges[index / 8].reduce(Float(0)) {
          $0 + columns[8 * $1 + index % 8] * weights.weight(of: $1, for: index / 8)
        }
      }
      #expect(resampled(instructions) == expected, "\(length) to \(count)")
    }
  }
}
