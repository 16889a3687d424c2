import Scheduling
import TestSupport
import Testing

@Suite struct DependencyCyclesTests {
  private func cycles(_ after: [(Int, [Int])], limit: Int = 100) -> [[Int]] {
    var cycles = DependencyCycles()
    for (entry, dependencies) in after { for other in dependencies { cycles.add(entry, after: other) } }
    return cycles.find(limit: limit)
  }

  @Test(
    arguments: [
      ([], []), ([(1, [0]), (2, [0, 1])], []), ([(0, [1])], []), ([(3, [3])], [[3]]),
      ([(0, [1]), (1, [0])], [[0, 1]]), ([(1, [2]), (2, [5]), (5, [1])], [[1, 2, 5]]),
      ([(0, [1, 2]), (1, [2]), (2, [])], []),
      ([(0, [1]), (1, [0]), (2, [3]), (3, [2])], [[0, 1], [2, 3]]),
      // Beneath one cycle, and not part of it.
      ([(0, [1]), (1, [2]), (2, [1, 3]), (3, [4]), (4, [3])], [[1, 2], [3, 4]]),
      // Two cycles over one entry are one group: one of them is enough.
      ([(0, [1]), (1, [0, 2]), (2, [1])], [[0, 1]]),
    ] as [([(Int, [Int])], [[Int]])])
  func `each group of entries that come after one another is told once, beginning with its first`(
    after: [(Int, [Int])], expected: [[Int]]
  ) {
    #expect(cycles(after).sorted { $0[0] < $1[0] } == expected)
  }

  @Test func `a cycle of 200 000 entries is found, whole`() {
    let count = 200_000
    let found = cycles((0..<count).map { ($0, [($0 + 1) % count]) })
    #expect(found == [Array(0..<count)])
  }

  @Test func `of many cycles only so many are looked for`() {
    #expect(cycles((0..<500).map { ($0, [$0]) }, limit: 7).count == 7)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `what is found is a cycle, and one is found in each group that has one`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let count = Int.random(in: 2...14, using: &random)
    let after: [(Int, [Int])] = (0..<count).map { entry in
      (
        entry,
        Set((0..<Int.random(in: 0...2, using: &random)).map { _ in Int.random(in: 0..<count, using: &random) })
          .sorted()
      )
    }
    let reach = reachable(after, count)
    let found = cycles(after)
    for cycle in found {
      for (entry, dependency) in zip(cycle, cycle.dropFirst() + [cycle[0]]) {
        #expect(after[entry].1.contains(dependency))
      }
      #expect(cycle.min() == cycle.first && Set(cycle).count == cycle.count)
    }
    let groups = Set(
      (0..<count).filter { reach[$0].contains($0) }.map { entry in
        reach[entry].filter { reach[$0].contains(entry) }.sorted()
      })
    for group in groups { #expect(found.contains { Set($0).isSubset(of: group) }, "\(group) of \(after)") }
  }

  /// What each entry comes after, over others or directly.
  private func reachable(_ after: [(Int, [Int])], _ count: Int) -> [Set<Int>] {
    var reach = after.map { Set($0.1) }
    for _ in 0..<count { for entry in 0..<count { for other in reach[entry] { reach[entry].formUnion(reach[other]) } } }
    return reach
  }
}
