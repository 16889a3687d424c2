import TestSupport
import Testing

@testable import Scheduling

/// How hosts are divided among shards.
@Suite struct ShardPackingTests {
  private typealias Group = ShardPacking.Group

  /// Hosts whose sizes follow Zipf's law, the largest first.
  private static func zipf(_ hosts: Int, total: Int, slots: Int = 6) -> [Group] {
    let sum = (1...hosts).reduce(0) { $0 + 1 / Double($1) }
    return (1...hosts).map { rank in
      Group(key: "host\(rank).example", size: max(1, Int(Double(total) / sum / Double(rank))), slots: slots)
    }
  }

  private static let cases: [(groups: [Group], count: Int)] = [
    (zipf(200, total: 20_000), 64), (zipf(200, total: 20_000), 7), (zipf(5000, total: 10_000), 100),
    (zipf(3, total: 300, slots: 1), 8), (zipf(1, total: 1000, slots: 32), 16), ([], 4),
    ((0..<40).map { Group(key: "h\($0)", size: 1, slots: 1) }, 1),
    ([Group(key: "half", size: 10_000, slots: 6)] + zipf(200, total: 10_000), 64),
  ]

  private static func loads(_ groups: [Group], _ shards: [[Int]], _ count: Int) -> [Double] {
    var loads = [Double](repeating: 0, count: count)
    for (group, slots) in zip(groups, shards) {
      for slot in slots { loads[slot] += Double(group.size) / Double(slots.count) }
    }
    return loads
  }

  @Test(arguments: cases)
  private func `a host is whole in one shard, or cut into no more parts than it fills shards and has slots`(
    groups: [Group], count: Int
  ) {
    let shards = ShardPacking.pack(groups, into: count)
    let level = ShardPacking.level(groups, count)
    #expect(shards.count == groups.count)
    for (group, slots) in zip(groups, shards) {
      #expect(slots.allSatisfy((0..<count).contains))
      let (parts, most) = (Set(slots).count, min(group.slots, count))
      #expect(parts == most || parts.nonzeroBitCount == 1 && parts < most, "\(group)")
      #expect(parts == most || Double(group.size) <= level * Double(parts), "\(group)")
      #expect(parts == 1 || Double(group.size) > level * Double(parts) / 2, "\(group)")
      #expect(slots.count == (parts == 1 ? 1 : group.slots))
      let shares = Dictionary(slots.map { ($0, 1) }, uniquingKeysWith: +).values
      #expect((shares.max() ?? 1) - (shares.min() ?? 1) <= 1)
    }
  }

  @Test(arguments: cases)
  private func `shards are equal within the tolerance, but for those that a host's part fills`(
    groups: [Group], count: Int
  ) {
    let shards = ShardPacking.pack(groups, into: count)
    let level = ShardPacking.level(groups, count)
    let parts = zip(groups, shards).map { Double($0.size) / Double(Set($1).count) }
    let loads = Self.loads(groups, shards, count)
    #expect(level <= Double(groups.reduce(0) { $0 + $1.size }) / Double(count))
    for load in loads where !parts.contains(where: { abs($0 - load) <= 2 && $0 > level }) {
      #expect(load <= level * (1 + ShardPacking.tolerance) + (parts.filter { $0 <= level }.max() ?? 0) + 2)
    }
    let small = parts.filter { $0 <= level * 0.02 }.reduce(0, +)
    // Where small hosts have enough to even out what the large ones leave.
    if small > level * Double(count) * 0.5 {
      #expect((loads.min() ?? 0) >= level * 0.75, "\(loads.min() ?? 0) of \(level)")
    }
  }

  /// The share of the work that is in another shard when each host has gained or lost up to a tenth of its entries.
  private static func moved(_ pack: ([Group], Int) -> [[Int]], hosts: Int, total: Int, count: Int) -> Double {
    var random = SplitMix64(seed: 7)
    let groups = zipf(hosts, total: total)
    let changed = groups.map { group in
      let most = max(1, group.size / 10)
      return Group(
        key: group.key, size: max(1, group.size + Int.random(in: -most...most, using: &random)), slots: group.slots)
    }
    var moved = 0.0
    for ((group, before), after) in zip(zip(groups, pack(groups, count)), pack(changed, count)) {
      let all = (0..<60).map { (before[$0 * before.count / 60], after[$0 * after.count / 60]) }
      moved += Double(group.size * all.count { $0 != $1 }) / 60
    }
    return moved / Double(groups.reduce(0) { $0 + $1.size })
  }

  /// The largest into the emptiest shard.
  private static func greedy(_ groups: [Group], _ count: Int) -> [[Int]] {
    var loads = [Int](repeating: 0, count: count)
    var shards = [[Int]](repeating: [], count: groups.count)
    for number in groups.indices.sorted(by: { groups[$0].size > groups[$1].size }) {
      let shard = loads.indices.min { loads[$0] < loads[$1] } ?? 0
      loads[shard] += groups[number].size
      shards[number] = [shard]
    }
    return shards
  }

  @Test(arguments: [(hosts: 2000, total: 200_000, count: 64), (hosts: 20_000, total: 100_000, count: 200)])
  func `most of a changed manifest stays where it was, unlike when the largest host takes the emptiest shard`(
    hosts: Int, total: Int, count: Int
  ) {
    let own = Self.moved({ ShardPacking.pack($0, into: $1) }, hosts: hosts, total: total, count: count)
    let greedy = Self.moved(Self.greedy, hosts: hosts, total: total, count: count)
    #expect(own < 0.2 && greedy > 0.5, "moved: \(own), by the other rule \(greedy)")
  }

  @Test func `the hash of a text and its bucket are the same for ever`() {
    #expect(["", "a", "images.example", "日本"].map { StableHash($0).bucket(of: 1000) } == [978, 572, 641, 895])
    #expect((0..<4).map { StableHash("a").variant($0).bucket(of: 1000) } == [72, 124, 506, 569])
  }

  @Test(arguments: [1, 2, 5, 63]) func `one bucket more takes its share and moves nothing else`(count: Int) {
    let hashes = (0..<20_000).map { StableHash("host\($0)") }
    let moves = hashes.map { ($0.bucket(of: count), $0.bucket(of: count + 1)) }.filter { $0 != $1 }
    #expect(moves.allSatisfy { $0.1 == count })
    let expected = Double(hashes.count) / Double(count + 1)
    #expect(abs(Double(moves.count) - expected) < expected * 0.1 + 20)
  }

  @Test func `joined numbers have one root, the smallest, and others have none of them`() {
    var random = SplitMix64(seed: 3)
    var sets = DisjointSets(count: 300)
    var naive = Array(0..<300)
    for _ in 0..<200 {
      let (one, other) = (Int.random(in: 0..<300, using: &random), Int.random(in: 0..<300, using: &random))
      sets.join(one, other)
      let (from, to) = (max(naive[one], naive[other]), min(naive[one], naive[other]))
      naive = naive.map { $0 == from ? to : $0 }
    }
    #expect((0..<300).map { sets.root(of: $0) } == naive)
  }
}
