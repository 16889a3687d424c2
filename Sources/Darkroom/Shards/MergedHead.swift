import Delivery
import Foundation
import JSON
import Model

/// The head of the report of a job that was done in shards.
struct MergedHead {
  let plan: ShardPlan
  let runID: String

  /// The heads of the reports of the complete shards.
  let heads: [ReportHead]

  /// When each shard that is not complete began, and when its last result ended.
  let unfinishedTimes: [ShardTimes]

  /// The results of shards that are not complete.
  var unfinished = JobTally()

  /// The comparison of the rows with those of the job's last run; nil when there was none.
  var sinceLast: SinceLast?

  /// The warnings about sources that are frequent in all shards together.
  var sameSources: [ReportWarning] = []

  /// When processes first began with shards.
  let begun: [String]

  private static let hostLimit = 100
  private static let warningLimit = 100

  var counts: JobOutcome.Counts {
    heads.compactMap(\.counts).reduce(unfinished.counts) { sum, counts in
      JobOutcome.Counts(
        total: sum.total + counts.total, filtered: sum.filtered + counts.filtered, failed: sum.failed + counts.failed,
        cancelled: sum.cancelled + counts.cancelled, reused: sum.reused + counts.reused)
    }
  }

  var head: ReportHead {
    let now = JSONValue.time(Int(Date.now.timeIntervalSince1970 * 1000))
    let started = (times("started_at") + unfinishedTimes.map(\.started) + begun).min() ?? now.string ?? ""
    let finished = (times("finished_at") + unfinishedTimes.map(\.finished)).max() ?? started
    let head = JSONValue.object([
      "schema_version": .integer(ReportHead.schemaVersion),
      "job": .string(plan.job),
      "run_id": .string(runID),
      "state": .string(counts.state.rawValue),
      "tool": .object(["name": .string(Tool.name), "version": .string(Tool.version)]),
      "manifest": .object([
        "file": .string(plan.manifest), "format": .string(plan.format), "sha256": .string(plan.sha256),
      ]),
      "started_at": .string(started),
      "finished_at": .string(finished),
      "duration_s": .number(Self.seconds(from: started, to: finished)),
      "paused_s": .number(heads.compactMap { $0["paused_s"]?.number }.max() ?? 0),
      "shards": .object(["total": .integer(plan.shards.count), "complete": .integer(heads.count)]),
      "counts": counts.json,
      "since_last": sinceLast?.json,
      "bytes": .object([
        "downloaded": .integer(sum("bytes", "downloaded") + unfinished.bytes.downloaded),
        "written": .integer(sum("bytes", "written") + unfinished.bytes.written),
      ]),
      "transfers": transfers,
      "warnings": warnings.isEmpty ? nil : .array(warnings),
    ])
    if case .object(let members) = head { return ReportHead(members: members) }
    return ReportHead(members: [])
  }

  /// RFC 3339 times in UTC, with milliseconds, are in the order of their texts.
  private func times(_ key: String) -> [String] { heads.compactMap { $0[key]?.string } }

  private static func seconds(from: String, to: String) -> Double {
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    guard let from = try? format.parse(from), let to = try? format.parse(to) else { return 0 }
    return max(0, (to.timeIntervalSince(from) * 1000).rounded() / 1000)
  }

  private func sum(_ object: String, _ key: String) -> Int {
    heads.reduce(0) { $0 + ($1[object]?[key]?.integer ?? 0) }
  }

  private static let transferCounts = ["requests", "retries", "bytes", "connections_reused"]

  private var transfers: JSONValue? {
    guard heads.contains(where: { $0["transfers"] != nil }) else { return nil }
    let totals = Self.transferCounts.map { JSONValue.Member($0, .integer(sum("transfers", $0))) }
    return .object(totals + [.init("hosts", .array(hosts))])
  }

  /// The hosts with the most requests. One that several shards had has the sums of its numbers, and no median.
  private var hosts: [JSONValue] {
    var byName: [String: [JSONValue]] = [:]
    for head in heads {
      guard case .array(let hosts)? = head["transfers"]?["hosts"] else { continue }
      for host in hosts { if let name = host["host"]?.string { byName[name, default: []].append(host) } }
    }
    let merged = byName.map { name, hosts in hosts.count == 1 ? hosts[0] : Self.sum(hosts, named: name) }
    func order(_ host: JSONValue) -> (Int, String) { (-(host["requests"]?.integer ?? 0), host["host"]?.string ?? "") }
    return Array(merged.sorted { order($0) < order($1) }.prefix(Self.hostLimit))
  }

  private static func sum(_ hosts: [JSONValue], named name: String) -> JSONValue {
    var members = [JSONValue.Member("host", .string(name))]
    members += transferCounts.map { key in
      .init(key, .integer(hosts.reduce(0) { $0 + ($1[key]?.integer ?? 0) }))
    }
    var failures: [String: Int] = [:]
    for case .object(let counts)? in hosts.map({ $0["failures"] }) {
      for count in counts { failures[count.key, default: 0] += count.value.integer ?? 0 }
    }
    if !failures.isEmpty {
      members.append(
        .init("failures", .object(failures.sorted { $0.key < $1.key }.map { .init($0.key, .integer($0.value)) })))
    }
    let holds = hosts.reduce(0) { $0 + ($1["holds"]?.integer ?? 0) }
    return .object(members + (holds > 0 ? [.init("holds", .integer(holds))] : []))
  }

  /// The warnings about the manifest that was divided, those of the shards that these do not include, without their places, which are
  /// those in the shards, and those about frequent sources, which are counted anew.
  private var warnings: [JSONValue] {
    let ofShards = heads.flatMap { head -> [JSONValue] in
      if case .array(let warnings)? = head["warnings"] { warnings } else { [] }
    }.filter { $0["code"]?.string != ReportWarning.Code.sameSource.rawValue }
    var texts = Set(plan.warnings.map { Self.withoutLocation($0).text })
    let others = ofShards.map(Self.withoutLocation).filter { texts.insert($0.text).inserted }
    let counted = sameSources.map(\.json)
    return Array((plan.warnings + others).prefix(Self.warningLimit - counted.count)) + counted
  }

  private static func withoutLocation(_ warning: JSONValue) -> JSONValue {
    guard case .object(let members) = warning else { return warning }
    return .object(members.filter { $0.key != "where" })
  }
}
