/// Sets of numbers that are joined in pairs (union-find), with four bytes for each number.
package struct DisjointSets {
  private var parents: [Int32]

  package var count: Int { parents.count }

  /// - Parameter count: The numbers are those below it, each in a set of its own.
  package init(count: Int) { parents = (0..<Int32(count)).map { $0 } }

  /// The smallest number of a number's set.
  package mutating func root(of number: Int) -> Int {
    var current = number
    while Int(parents[current]) != current {
      parents[current] = parents[Int(parents[current])]
      current = Int(parents[current])
    }
    return current
  }

  package mutating func join(_ one: Int, _ other: Int) {
    let (one, other) = (root(of: one), root(of: other))
    if one != other { parents[max(one, other)] = Int32(min(one, other)) }
  }
}
