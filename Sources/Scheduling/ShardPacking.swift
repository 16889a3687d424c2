/// Divides the work of hosts among shards. A host is in one shard, so that its limits hold without any word between the
/// processes that do the shards. One that is larger than a shard is cut into parts, each with its share of the limit.
///
/// It is the same for the same hosts, and nearly the same for nearly the same: a host's shard is chosen by a hash of its name,
/// and only when that shard is full by another. (The largest first into the emptiest shard is no better balanced, but moves most
/// hosts when a few change; see `ShardPackingTests`.)
package enum ShardPacking {
  /// A host, or several that must be in one shard.
  package struct Group: Sendable {
    /// Distinguishes it from others, and stays the same.
    package let key: String

    /// The work, in rows.
    package let size: Int

    /// The most parts into which it may be cut, at least 1. Parts are whole numbers of these slots.
    package let slots: Int

    package init(key: String, size: Int, slots: Int) { (self.key, self.size, self.slots) = (key, size, slots) }
  }

  /// How much larger than the level a shard may be, unless a part is larger itself.
  static let tolerance = 0.05

  /// How often another hash is tried before the emptiest shard is taken.
  private static let attempts = 16

  private struct Part {
    let group: Int
    let slots: Range<Int>
    let size: Int
    let hash: StableHash
  }

  /// - Parameter count: The number of shards, at least 1.
  /// - Returns: For each group the shards of its slots; one element for a group that is not cut.
  package static func pack(_ groups: [Group], into count: Int) -> [[Int]] {
    let level = level(groups, count)
    let room = Int(max(level.rounded(.up), (level * (1 + tolerance)).rounded(.down)))
    var loads = [Int](repeating: 0, count: count)
    var shards = [[Int]](repeating: [], count: groups.count)
    var all: [Part] = []
    for number in groups.indices { all += parts(of: groups[number], number: number, level: level, count: count) }
    // The largest first; parts of equal size in the order of their groups, which the caller keeps the same.
    all.sort { one, other in
      one.size != other.size
        ? one.size > other.size : (one.group, one.slots.lowerBound) < (other.group, other.slots.lowerBound)
    }
    var takenByGroup: [Int: Set<Int>] = [:]
    for part in all {
      let isWhole = part.slots.count == groups[part.group].slots
      let taken = takenByGroup[part.group] ?? []
      let hashed = (0..<attempts).lazy.map { part.hash.variant($0).bucket(of: count) }
      let withRoom = hashed.first { !taken.contains($0) && (loads[$0] == 0 || loads[$0] + part.size <= room) }
      let shard = withRoom ?? emptiest(loads, but: taken)
      loads[shard] += part.size
      if isWhole {
        shards[part.group] = [shard]
      } else {
        takenByGroup[part.group, default: []].insert(shard)
        if shards[part.group].isEmpty { shards[part.group] = [Int](repeating: -1, count: groups[part.group].slots) }
        for slot in part.slots { shards[part.group][slot] = shard }
      }
    }
    return shards
  }

  /// The average of the shards, but for those that a part fills above it: what a shard should have.
  static func level(_ groups: [Group], _ count: Int) -> Double {
    let total = groups.reduce(0) { $0 + $1.size }
    var level = Double(total) / Double(count)
    while true {
      var (size, filled) = (0, 0)
      for group in groups where Double(group.size) > level {
        let parts = parts(of: group, level: level, count: count)
        guard Double(group.size) / Double(parts) > level else { continue }
        size += group.size
        filled += parts
      }
      let next = filled < count ? Double(total - size) / Double(count - filled) : level
      guard next < level else { return level }
      level = next
    }
  }

  /// The number of parts into which a group is cut: as many as it fills shards, rounded up to a power of two, so that a change of its
  /// size changes it seldom; no more than slots that it has, and shards that there are.
  private static func parts(of group: Group, level: Double, count: Int) -> Int {
    let most = min(group.slots, count)
    var parts = 1
    while parts < most, Double(group.size) > level * Double(parts) { parts *= 2 }
    return min(parts, most)
  }

  private static func emptiest(_ loads: [Int], but taken: Set<Int>) -> Int {
    loads.indices.filter { !taken.contains($0) }.min { loads[$0] < loads[$1] } ?? 0
  }

  private static func parts(of group: Group, number: Int, level: Double, count: Int) -> [Part] {
    let parts = parts(of: group, level: level, count: count)
    let hash = StableHash(group.key)
    // A part has the hash of its first slot, so that of two parts into which one is cut the first stays where that was.
    return (0..<parts).map { part in
      let slots = part * group.slots / parts..<(part + 1) * group.slots / parts
      let size = (group.size * slots.count + group.slots - 1) / group.slots
      return Part(group: number, slots: slots, size: size, hash: hash.variant(1000 + slots.lowerBound))
    }
  }
}
