import Testing

@testable import Imaging

/// The ways of the kernel beside one another.
@Suite struct PlaneKernelTests {
  static let recipes = [
    "sepia(0.8)", "sepia(1)", "grayscale(1)", "grayscale(0.3)", "saturate(0.5)", "saturate(3)", "hue-rotate(90deg)",
    "brightness(0.5)", "brightness(1.5)", "contrast(0.5)", "contrast(1.5)", "invert(1)", "invert(0.2)",
  ]

  private static let corners: [(UInt8, UInt8, UInt8)] = [
    (0, 128, 128), (255, 128, 128), (76, 85, 255), (150, 44, 21), (29, 255, 107), (226, 0, 149), (179, 171, 0),
    (105, 212, 235),
  ]

  /// 4:2:2.
  private static let halfColumns = ChromaSampling(horizontal: 2, vertical: 1)

  @Test(
    "the short cut gives what the long way does, but for rounding, whatever the colours",
    arguments: recipes, [ChromaSampling.full, .quarter])
  func shortcut(_ recipe: String, _ sharing: ChromaSampling) throws {
    let stages = AffineColour.merged(try Recipe(parsing: recipe).filters.compactMap(\.stage.affine))
    // Two stages take the long way.
    let (short, long) = (try #require(PlaneKernel(stages)), try #require(PlaneKernel(stages + [.identity])))
    // More columns than are tried at once, and then some.
    let width = 1100
    let (source, a, b) = (
      PlaneBand(width: width, sharing: sharing), PlaneBand(width: width, sharing: .quarter),
      PlaneBand(width: width, sharing: .quarter)
    )
    var chance = SystemRandomNumberGenerator()
    let spreads: [UInt8] = [0, 2, 30, 255]
    for round in 0..<(Self.corners.count * spreads.count) {
      let corner = Self.corners[round % Self.corners.count]
      // A corner and its neighbours, a darker or lighter one, or any samples. Chroma that is shared is even, because it is
      // interpolated elsewhere.
      let spread = spreads[round / Self.corners.count]
      for (plane, middle) in zip(source.planes, [corner.0, corner.1, corner.2]) {
        let even = sample(middle, spread, &chance)
        fill(plane) { plane.sharing == .quarter ? even : sample(middle, spread, &chance) }
      }
      source.surround(above: nil, below: nil)
      for row in stride(from: 0, to: PlaneBand.lumaRows, by: 2) {
        short.apply(to: source, row: row, into: a)
        long.apply(to: source, row: row, into: b)
      }
      for (index, (one, other)) in zip(a.planes, b.planes).enumerated() {
        let difference = (0..<one.count).flatMap { row in
          (0..<(width / one.sharing.horizontal)).map { abs(Int(one.row(row)[$0]) - Int(other.row(row)[$0])) }
        }
        #expect(try #require(difference.max()) <= 1, "round \(round), plane \(index)")
      }
    }
  }

  @Test(
    "wider vectors give the same to the bit",
    arguments: recipes + ["none", "saturate(3) hue-rotate(90deg) contrast(1.5)"],
    [ChromaSampling.full, .quarter, halfColumns, halfColumns.turned])
  func vectors(_ recipe: String, _ sharing: ChromaSampling) throws {
    let stages = try Recipe(parsing: recipe).filters.compactMap(\.stage.affine)
    let kernels = [try #require(PlaneKernel(stages)), try #require(PlaneKernel(stages, isPortable: true))]
    let width = 200
    var chance = SystemRandomNumberGenerator()
    for kept in [sharing, .quarter] {
      for spread: UInt8 in [3, 30, 255] {
        let source = PlaneBand(width: width, sharing: sharing)
        for plane in source.planes { fill(plane) { sample(128, spread, &chance) } }
        source.surround(above: nil, below: nil)
        let results = kernels.map { kernel in
          let result = PlaneBand(width: width, sharing: kept)
          for row in stride(from: 0, to: PlaneBand.lumaRows, by: 2) { kernel.apply(to: source, row: row, into: result) }
          return result.planes.map { plane in
            (0..<plane.count).map { Array(UnsafeBufferPointer(start: plane.row($0), count: plane.width)) }
          }
        }
        #expect(results[0] == results[1], "chroma kept as \(kept), samples \(spread) around the middle")
      }
    }
  }

  private func fill(_ plane: PlaneBand.Plane, with sample: () -> UInt8) {
    for row in 0..<plane.count {
      for column in 0..<plane.width { plane.row(row)[column] = sample() }
    }
    plane.extend(width: plane.width, height: plane.count)
  }

  private func sample(_ middle: UInt8, _ spread: UInt8, _ chance: inout some RandomNumberGenerator) -> UInt8 {
    let (low, high) = (max(0, Int(middle) - Int(spread)), min(255, Int(middle) + Int(spread)))
    return UInt8(Int.random(in: low...high, using: &chance))
  }
}
