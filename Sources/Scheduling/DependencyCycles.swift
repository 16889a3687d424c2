/// Finds entries that come after themselves, over others or directly.
///
/// It walks over the dependencies once, without recursion. It takes 12 bytes for each entry, 16 more for each on the longest
/// path, and 4 for each dependency.
package struct DependencyCycles {
  /// The places of the entries that come after others, ascending.
  private var entries: [UInt32] = []

  /// Where the dependencies of each begin.
  private var starts: [UInt32] = []
  private var dependencies: [UInt32] = []

  package init() {}

  /// Adds that an entry comes after another: in the order of the entries.
  package mutating func add(_ entry: Int, after dependency: Int) {
    let number = UInt32(clamping: entry)
    if entries.last != number {
      entries.append(number)
      starts.append(UInt32(clamping: dependencies.count))
    }
    dependencies.append(UInt32(clamping: dependency))
  }

  /// An entry whose dependencies are being followed.
  private struct Step {
    let entry: Int
    var next: Int
  }

  /// One cycle at least for each group of entries that come after one another: places in the manifest, each after the one
  /// that follows it, and the last after the first, which is the least.
  /// - Parameter limit: How many are found at most.
  package func find(limit: Int) -> [[Int]] {
    var found: [[Int]] = []
    /// Where an entry is on the path, from 1; 0: it was not met; `.max`: all of its dependencies were followed.
    var depths = [UInt32](repeating: 0, count: entries.count)
    /// Parts of the path that are in a cycle that was found, from the beginning of the path.
    var known: [ClosedRange<Int>] = []
    for root in entries.indices where depths[root] == 0 {
      var path = [Step(entry: root, next: Int(starts[root]))]
      depths[root] = 1
      while let step = path.last {
        guard step.next < end(of: step.entry) else {
          depths[step.entry] = .max
          path.removeLast()
          while let last = known.last, last.upperBound > path.count {
            known.removeLast()
            if last.lowerBound <= path.count { known.append(last.lowerBound...path.count) }
          }
          continue
        }
        path[path.count - 1].next += 1
        guard let entry = index(of: dependencies[step.next]) else { continue }
        switch depths[entry] {
        case 0:
          path.append(Step(entry: entry, next: Int(starts[entry])))
          depths[entry] = UInt32(clamping: path.count)
        case .max: break
        case let depth:
          guard Int(depth) > known.last?.upperBound ?? 0 else { continue }
          known.append(Int(depth)...path.count)
          found.append(Self.rotated(path[(Int(depth) - 1)...].map { Int(entries[$0.entry]) }))
          if found.count >= limit { return found }
        }
      }
    }
    return found
  }

  private func end(of entry: Int) -> Int { entry + 1 < starts.count ? Int(starts[entry + 1]) : dependencies.count }

  /// The index of an entry that comes after others; nil for another.
  private func index(of position: UInt32) -> Int? {
    var range = 0..<entries.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if entries[middle] == position { return middle }
      range = entries[middle] < position ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  private static func rotated(_ cycle: [Int]) -> [Int] {
    guard let least = cycle.min(), let start = cycle.firstIndex(of: least) else { return cycle }
    return Array(cycle[start...] + cycle[..<start])
  }
}
