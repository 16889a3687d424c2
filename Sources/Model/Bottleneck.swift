import JSON

/// A reason why a run is not faster.
package struct Bottleneck: Hashable, Sendable, Codable, CustomStringConvertible {
  /// The causes, as reports name them. `Documentation/report.md` says when each is found.
  package enum Cause: String, Sendable, Codable, CaseIterable {
    case pause, planning
    case otherJobs = "other-jobs"
    case filtrations, processors, downloads, host
    case hostHold = "host-hold"
    case rate, servers, retry, deferred, after, disk
  }

  package let cause: Cause

  /// The host, if the cause is a single one; for a pause the name of a lock, `disk` or `memory`. Default: nil.
  package var name: String?

  /// The option or key of the configuration file that changes it. Default: nil, none does.
  package var option: String?

  /// The limiting number, in the option's unit. Default: nil, there is none.
  package var limit: Int?

  /// The share of the run's time for which it was found, from 0 to 1. Default: nil, it was found at one moment.
  package var share: Double?

  package init(_ cause: Cause, name: String? = nil, option: String? = nil, limit: Int? = nil, share: Double? = nil) {
    (self.cause, self.name, self.option, self.limit, self.share) = (cause, name, option, limit, share)
  }

  /// The key of the configuration file that has the rules for hosts.
  package static let hostRules = "hosts"

  /// The bottlenecks of a run, as reports and events show them; nil when there are none.
  package static func json(_ bottlenecks: [Bottleneck]?) -> JSONValue? {
    guard let bottlenecks, !bottlenecks.isEmpty else { return nil }
    let objects = bottlenecks.map { bottleneck in
      JSONValue.object([
        "cause": .string(bottleneck.cause.rawValue), "name": bottleneck.name.map { .string($0) },
        "share": bottleneck.share.map { .number($0) }, "option": bottleneck.option.map { .string($0) },
        "limit": bottleneck.limit.map { .integer($0) },
      ])
    }
    return .array(objects)
  }

  /// For example `bounded by the limits of hosts (example.com) for 63 % of the time, see --per-host, now 6`.
  package var description: String {
    let share = share.map { " for \(Int(($0 * 100).rounded())) % of the time" } ?? ""
    let key = option.map { $0 == Self.hostRules ? ", see \($0) in the configuration file" : ", see \($0)" } ?? ""
    return "bounded by \(words)" + (name.map { " (\($0))" } ?? "") + share + key
      + (option == nil ? "" : limit.map { ", now \($0)" } ?? "")
  }

  private var words: String {
    switch cause {
    case .pause: "pauses"
    case .planning: "the reading of its manifest"
    case .otherJobs: "other jobs"
    case .filtrations: "the limit of filtrations"
    case .processors: "the processors"
    case .downloads: "the limit of downloads"
    case .host: "the limits of hosts"
    case .hostHold: "hosts that refused requests"
    case .rate: "the rate limit"
    case .servers: "the speed of servers"
    case .retry: "waits before retries"
    case .deferred: "entries that are tried again later"
    case .after: "entries that come after others"
    case .disk: "the disk"
    }
  }
}

/// Adds up how long a run had each bottleneck, in milliseconds of the monotonic clock.
package struct BottleneckTime: Sendable {
  private var times: [Bottleneck: (milliseconds: Int, limit: Int?)] = [:]
  private let began: Int

  /// The time up to which bottlenecks were counted.
  private var reached: Int

  /// The bottleneck that was counted last; nil when none is known.
  package private(set) var last: Bottleneck?

  /// The number of bottlenecks with names. Further ones are counted without their names.
  static let nameLimit = 32

  /// The least duration of a run whose shares are reported, in milliseconds.
  static let leastTime = 1000

  /// The least share that is reported.
  static let leastShare = 0.01

  /// - Parameter now: When the run, or its part in this process, begins.
  package init(now: Int) { (began, reached) = (now, now) }

  /// Counts the time since this was last called.
  /// - Parameter bottleneck: The bottleneck during that time; nil when none is known.
  package mutating func add(_ bottleneck: Bottleneck?, until now: Int) {
    let time = now - reached
    guard time > 0 else { return }
    (reached, last) = (now, bottleneck)
    guard var key = bottleneck else { return }
    // The limit may change while the program runs.
    key.limit = nil
    if times.count >= Self.nameLimit, times[key] == nil { key.name = nil }
    times[key] = ((times[key]?.milliseconds ?? 0) + time, bottleneck?.limit)
  }

  /// The bottlenecks with their shares of the time, the largest first, rounded down to three digits.
  package var shares: [Bottleneck] {
    let total = reached - began
    guard total >= Self.leastTime else { return [] }
    let shares = times.map { key, time in
      let share = Double(time.milliseconds * 1000 / total) / 1000
      return Bottleneck(key.cause, name: key.name, option: key.option, limit: time.limit, share: share)
    }
    return shares.filter { $0.share ?? 0 >= Self.leastShare }
      .sorted { ($0.share ?? 0, $1.cause.rawValue) > ($1.share ?? 0, $0.cause.rawValue) }
  }
}
