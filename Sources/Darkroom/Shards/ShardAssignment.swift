import JobIndex
import Model
import Scheduling
import System
import Transfer

/// The shard of each line of a manifest, decided by its host.
struct ShardAssignment {
  /// The hosts that several shards share, by name.
  let shared: [ShardPlan.SharedHost]

  /// The number of hosts; URLs without one are another when there are any.
  let hostCount: Int

  /// The shards of the downloads at once from each host, by its number in the index.
  private let shards: [Int: [Int]]

  private var ties: Ties?

  /// The rows that `after` ties together.
  private struct Ties {
    var rows: DisjointSets

    /// For each root with rows of files and of a host: one of the host's, which decides for all.
    var ofHosts: [Int: Int] = [:]
  }

  /// Stands for the URLs that name no host.
  private static let files = ""

  /// - Parameters:
  ///   - index: The planned manifest.
  ///   - count: The number of shards.
  ///   - grouping: What stays together.
  ///   - perHost: How many downloads from a host may run at once, unless a rule says otherwise. Files have no limit.
  init(_ index: JobIndex, into count: Int, by grouping: ShardPlan.Grouping, perHost: Int, rules: HostRules) throws {
    var numbers: [Int: Int] = [:]
    var rows: [Int] = []
    try index.eachHostOfRow { host in
      let number = numbers[host] ?? rows.count
      if number == rows.count {
        numbers[host] = number
        rows.append(0)
      }
      rows[number] += 1
    }
    var names: [String] = Array(repeating: "", count: rows.count)
    for (host, number) in numbers { names[number] = try index.hostName(host) ?? Self.files }
    var sets = DisjointSets(count: rows.count)
    ties = try Self.ties(index, numbers, &sets)
    let withFiles = ties == nil ? [] : try Self.countTiedFiles(index, &ties, numbers, &rows)
    let slots = Self.slots(names, count: count, perHost: perHost, rules, &sets)

    // Of hosts that are tied none is cut, since many entries may wait for one.
    let tied = Self.members(&sets).values.filter { $0.count > 1 }.reduce(into: withFiles) { $0.formUnion($1) }
    let list = PublicSuffixList()
    let keys = Self.join(names, &sets) { origin in
      grouping == .host ? SourceLocation.hostName(of: origin) ?? origin : list.registrableDomain(of: origin)
    }

    // A group for each host, or for the hosts that must be in one shard.
    let groups = Self.members(&sets).values.map { hosts in (key: hosts.map { keys[$0] }.min() ?? "", hosts: hosts) }
      .sorted { $0.key < $1.key }
    let packed = ShardPacking.pack(
      groups.map { key, hosts in
        .init(
          key: key, size: hosts.reduce(0) { $0 + rows[$1] },
          slots: tied.isDisjoint(with: hosts) ? hosts.map { slots[$0] }.min() ?? 1 : 1)
      }, into: count)
    var byNumber = [[Int]](repeating: [], count: rows.count)
    for (group, shards) in zip(groups, packed) { for host in group.hosts { byNumber[host] = shards } }
    shards = numbers.mapValues { byNumber[$0] }
    hostCount = rows.count
    shared = zip(groups, packed).filter { $0.key != Self.files && $1.count > 1 }.flatMap { group, shards in
      group.hosts.map { names[$0] }.sorted().map { ShardPlan.SharedHost(host: $0, shardsOfDownloads: shards) }
    }
  }

  /// The numbers of each set, by its root.
  private static func members(_ sets: inout DisjointSets) -> [Int: [Int]] {
    var members: [Int: [Int]] = [:]
    for number in 0..<sets.count { members[sets.root(of: number), default: []].append(number) }
    return members
  }

  /// Joins the hosts with the same key: those of a registrable domain, or http and https of a name.
  /// - Returns: The key of each.
  private static func join(
    _ names: [String], _ hosts: inout DisjointSets, by key: (String) -> String
  ) -> [String] {
    let keys = names.map { $0 == files ? files : key($0) }
    var ofKey: [String: Int] = [:]
    for (number, key) in keys.enumerated() {
      hosts.join(number, ofKey[key] ?? number)
      ofKey[key] = number
    }
    return keys
  }

  /// Finds the rows that are tied, and joins their hosts.
  private static func ties(_ index: JobIndex, _ numbers: [Int: Int], _ hosts: inout DisjointSets) throws -> Ties? {
    guard index.hasDependencies else { return nil }
    var ties = Ties(rows: DisjointSets(count: try index.count()))
    try index.eachDependency { ties.rows.join($0, $1) }
    try index.eachDependency { position, dependency in
      guard let one = try index.line(at: position), let other = try index.line(at: dependency), one.host != other.host
      else { return }
      if one.host == HostScheduler.files || other.host == HostScheduler.files {
        let root = ties.rows.root(of: position)
        let ofHost = one.host == HostScheduler.files ? dependency : position
        ties.ofHosts[root] = min(ties.ofHosts[root] ?? ofHost, ofHost)
      } else {
        hosts.join(numbers[one.host] ?? 0, numbers[other.host] ?? 0)
      }
    }
    // Hosts that are tied by way of a file.
    try index.eachDependency { position, dependency in
      let ofHost = ties.ofHosts[ties.rows.root(of: position)].flatMap { try? index.line(at: $0) }
      guard let ofHost else { return }
      for row in [position, dependency] {
        guard let line = try index.line(at: row), line.host != HostScheduler.files else { continue }
        hosts.join(numbers[line.host] ?? 0, numbers[ofHost.host] ?? 0)
      }
    }
    return ties
  }

  /// Counts the rows of files that are tied to a host as rows of that.
  /// - Returns: The hosts with such files. They are not cut, since many files may wait for one entry.
  private static func countTiedFiles(
    _ index: JobIndex, _ ties: inout Ties?, _ numbers: [Int: Int], _ rows: inout [Int]
  ) throws -> Set<Int> {
    guard ties?.ofHosts.isEmpty == false, let files = numbers[HostScheduler.files] else { return [] }
    var (counted, hosts): (Set<Int>, Set<Int>) = ([], [])
    try index.eachDependency { position, dependency in
      let root = ties?.rows.root(of: position) ?? position
      guard let line = try ties?.ofHosts[root].flatMap({ try index.line(at: $0) }), let host = numbers[line.host]
      else { return }
      for row in [position, dependency] where try index.line(at: row)?.host == HostScheduler.files {
        guard counted.insert(row).inserted else { continue }
        rows[files] -= 1
        rows[host] += 1
        hosts.insert(host)
      }
    }
    return hosts
  }

  /// The parts into which each host may be cut. Joins hosts whose limit is for all ports of a name.
  private static func slots(
    _ names: [String], count: Int, perHost: Int, _ rules: HostRules, _ hosts: inout DisjointSets
  ) -> [Int] {
    var ofName: [String: Int] = [:]
    return names.enumerated().map { number, name in
      if name == files { return count }
      guard !rules.isEmpty, let location = try? SourceLocation(origin: name),
        let rule = rules.rule(for: location)
      else { return perHost }
      let slots = rule.perHost ?? perHost
      // A rate is one for all ports of a name, and a rule with a time between requests is, too. It is shared where there are no others.
      guard rule.interval != nil || rule.settings.maxRate != nil else { return slots }
      let canonical = location.canonicalHost ?? name
      hosts.join(number, ofName[canonical] ?? number)
      ofName[canonical] = number
      return location.hasUsualPort ? slots : 1
    }
  }

  /// The shard of a line, and its final name.
  /// - Parameter position: Its first row.
  /// - Throws: `StopError.taken` when the index has no such row.
  mutating func shard(of position: Int, in index: JobIndex) throws -> (shard: Int, name: String) {
    guard let line = try index.line(at: position) else {
      throw StopError.taken("the manifest changed while it was split: nothing was kept")
    }
    let root = ties?.rows.root(of: position) ?? position
    let ofHost = try ties?.ofHosts[root].flatMap { try index.line(at: $0) }
    let slots = shards[ofHost?.host ?? line.host] ?? [0]
    guard slots.count > 1 else { return (slots[0], line.name) }
    // The name stays the same from night to night, while URLs may be signed anew. What is tied has that of its root.
    let deciding = root == position ? line.name : try index.line(at: root)?.name ?? line.name
    return (slots[StableHash(deciding).bucket(of: slots.count)], line.name)
  }
}
