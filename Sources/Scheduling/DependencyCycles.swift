/// Finds entries that depend on themselves, directly or through others.
///
/// It walks over the dependencies once, without recursion. It takes 12 bytes for each entry, 16 more for each on the longest
/// path, and 4 for each dependency.
package struct DependencyCycles {
  /// The positions of the entries with dependencies, ascending.
  private var entries: [UInt32] = []

  /// The index of the first dependency of each.
  private var starts: [UInt32] = []
  private var dependencies: [UInt32] = []

  package init() {}

  /// Adds a dependency of an entry. Call it in the order of the entries.
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

  /// Returns at least one cycle for each group of entries that depend on one another: positions in the manifest, each entry
  /// after the one that follows it, and the last after the first, which is the least.
  /// - Parameter limit: The most cycles that are found.
  package func find(limit: Int) -> [[Int]] {
    var found: [[Int]] = []
    /// The depth of an entry on the path, from 1; 0: not visited; `.max`: all of its dependencies were followed.
    var depths = [UInt32](repeating: 0, count: entries.count)
    /// Ranges of the path that belong to a cycle found before, from the beginning of the path.
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

  /// The index of an entry with dependencies; nil for another.
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
