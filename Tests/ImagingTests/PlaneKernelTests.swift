import CPlanes
import TestSupport
import Testing

@testable import Imaging

/// The paths of the kernel compared with the formula and with one another.
@Suite struct PlaneKernelTests {
  /// Of one stage; `saturate(5)` is the one whose bounds are too large for the fast path, but not its coefficients.
  static let recipes = [
    "sepia(0.8)", "sepia(1)", "grayscale(1)", "grayscale(0.3)", "saturate(0.5)", "saturate(3)", "saturate(5)",
    "hue-rotate(90deg)", "brightness(0.5)", "brightness(1.5)", "contrast(0.5)", "contrast(1.5)", "contrast(2)",
    "invert(1)", "invert(0.2)",
  ]
  private static let chains = ["contrast(2) sepia(0.8)", "saturate(3) hue-rotate(90deg) contrast(1.5)"]

  /// 4:2:2.
  private static let halfColumns = ChromaSampling(horizontal: 2, vertical: 1)
  private static let samplings: [ChromaSampling] = [.yuv444, halfColumns, halfColumns.transposed, .yuv420]

  private static let corners: [(UInt8, UInt8, UInt8)] = [
    (0, 128, 128), (255, 128, 128), (76, 85, 255), (150, 44, 21), (29, 255, 107), (226, 0, 149), (179, 171, 0),
    (105, 212, 235),
  ]

  @Test("the slow path equals the formula up to rounding", arguments: recipes + chains, samplings)
  func formula(_ recipe: String, _ sampling: ChromaSampling) throws {
    let stages = try stages(recipe)
    // A second stage excludes the fast path.
    let kernel = try #require(PlaneKernel(stages + [.identity]))
    let width = 64
    var chance = SplitMix64(seed: 1)
    for kept in [sampling, .yuv420] {
      for spread: UInt8 in [3, 30, 255] {
        let source = PlaneBand(width: width, sampling: sampling)
        for plane in source.planes { fill(plane) { _ in sample(128, spread, &chance) } }
        source.surround(above: nil, below: nil)
        let distances = PlaneReference(source, width: width, stages: stages, kept: kept)
          .distances(of: result(of: kernel, source, kept))
        #expect(distances.allSatisfy { $0 <= 1 }, "chroma kept as \(kept), samples \(spread) around 128: \(distances)")
      }
    }
  }

  @Test(
    "the fast path equals the slow path up to rounding, for all colours",
    arguments: recipes, [ChromaSampling.yuv444, .yuv420])
  func fastPath(_ recipe: String, _ sampling: ChromaSampling) throws {
    let stages = try stages(recipe)
    let (short, long) = (try #require(PlaneKernel(stages)), try #require(PlaneKernel(stages + [.identity])))
    // More columns than are tried at once, and then some.
    let width = 2100
    let source = PlaneBand(width: width, sampling: sampling)
    var chance = SplitMix64(seed: 2)
    let spreads: [UInt8] = [0, 2, 30, 255]
    for round in 0..<(Self.corners.count * spreads.count) {
      let corner = Self.corners[round % Self.corners.count]
      // A corner and its neighbours, a darker or lighter one, or any samples; every third group of columns is white, and
      // clips where there is colour. Chroma that is shared is even, because it is interpolated elsewhere.
      let spread = spreads[round / Self.corners.count]
      for (plane, middle) in zip(source.planes, [corner.0, corner.1, corner.2]) {
        let even = sample(middle, spread, &chance)
        fill(plane) { column in
          if plane.sampling == .yuv420 { return even }
          return plane.base == source.planes[0].base && column / 32 % 3 == 1 ? 255 : sample(middle, spread, &chance)
        }
      }
      source.surround(above: nil, below: nil)
      let (one, other) = (result(of: short, source, .yuv420), result(of: long, source, .yuv420))
      #expect(difference(one, other) <= 1, "round \(round)")
    }
  }

  @Test(
    "chroma is interpolated where it is more than 12 from a neighbour's, and only there", arguments: [1, 2], [15, 16])
  func unevenness(_ component: Int, _ column: Int) throws {
    let stages = try stages("saturate(3)")
    let (short, long) = (try #require(PlaneKernel(stages)), try #require(PlaneKernel(stages + [.identity])))
    for deviation in [12, 13, -12, -13] {
      let source = PlaneBand(width: 200, sampling: .yuv420)
      for plane in source.planes { fill(plane) { _ in 128 } }
      source.planes[component].row(4)[column] = UInt8(128 + deviation)
      source.surround(above: nil, below: nil)
      let difference = difference(result(of: short, source, .yuv420), result(of: long, source, .yuv420))
      #expect(abs(deviation) > 12 ? difference <= 1 : difference > 10, "\(deviation)")
    }
  }

  @Test("wider vectors give identical results", arguments: recipes + chains + ["none"], samplings)
  func vectors(_ recipe: String, _ sampling: ChromaSampling) throws {
    let stages = try stages(recipe)
    let kernels = try cplanes_instructions.all.map { try #require(PlaneKernel(stages, $0)) }
    var chance = SplitMix64(seed: 3)
    for kept in [sampling, .yuv420] {
      for spread: UInt8 in [3, 30, 255] {
        let source = PlaneBand(width: 200, sampling: sampling)
        for plane in source.planes { fill(plane) { _ in sample(128, spread, &chance) } }
        source.surround(above: nil, below: nil)
        let results = kernels.map { result(of: $0, source, kept) }
        for (instructions, wide) in zip(cplanes_instructions.all, results) {
          let reason: Comment = "\(instructions), chroma kept as \(kept), samples \(spread) around 128"
          #expect(difference(results[0], wide) == 0, reason)
        }
      }
    }
  }

  private func stages(_ recipe: String) throws -> [AffineColour] {
    AffineColour.merged(try Recipe(parsing: recipe).filters.compactMap(\.stage.affine))
  }

  private func result(of kernel: PlaneKernel, _ source: PlaneBand, _ kept: ChromaSampling) -> PlaneBand {
    let result = PlaneBand(width: source.planes[0].width, sampling: kept)
    for row in stride(from: 0, to: PlaneBand.lumaRows, by: 2) { kernel.apply(to: source, row: row, into: result) }
    return result
  }

  /// The largest.
  private func difference(_ one: PlaneBand, _ other: PlaneBand) -> Int {
    zip(one.planes, other.planes).map { one, other in
      (0..<one.count).map { row in
        (0..<one.width).reduce(0) { max($0, abs(Int(one.row(row)[$1]) - Int(other.row(row)[$1]))) }
      }.max() ?? 0
    }.max() ?? 0
  }

  private func fill(_ plane: PlaneBand.Plane, with sample: (_ column: Int) -> UInt8) {
    for row in 0..<plane.count {
      for column in 0..<plane.width { plane.row(row)[column] = sample(column) }
    }
    plane.extend(width: plane.width, height: plane.count)
  }

  private func sample(_ middle: UInt8, _ spread: UInt8, _ chance: inout some RandomNumberGenerator) -> UInt8 {
    let (low, high) = (max(0, Int(middle) - Int(spread)), min(255, Int(middle) + Int(spread)))
    return UInt8(Int.random(in: low...high, using: &chance))
  }
}
