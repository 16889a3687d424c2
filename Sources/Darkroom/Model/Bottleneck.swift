import JSON

/// What keeps a run from being faster.
package struct Bottleneck: Hashable, Sendable, Codable {
  /// The kinds of it, as reports name them; `Documentation/report.md` says when each is found.
  package enum Cause: String, Sendable, Codable, CaseIterable {
    case pause, planning
    case otherJobs = "other-jobs"
    case filtrations, processors, downloads, host
    case hostHold = "host-hold"
    case rate, servers, retry, deferred, after, disk
  }

  package let cause: Cause

  /// The host, if it is a single one; of a pause the name of a lock, `disk` or `memory`. Default: nil.
  package var name: String?

  /// What would change it: an option, or a key of the configuration file. Default: nil, nothing of the program's would.
  package var option: String?

  /// The number that limits, in the option's unit. Default: nil, there is none.
  package var limit: Int?

  /// For which part of the run's time it was found, from 0 to 1. Default: nil, for one moment.
  package var share: Double?

  package init(_ cause: Cause, name: String? = nil, option: String? = nil, limit: Int? = nil, share: Double? = nil) {
    (self.cause, self.name, self.option, self.limit, self.share) = (cause, name, option, limit, share)
  }

  /// The key of the configuration file that has the rules for hosts.
  static let hostRules = "hosts"

  /// Those of a run, as reports and events have them; nil when there are none.
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
}

extension Bottleneck: CustomStringConvertible {
  /// As `bounded by the limits of hosts (example.com) for 63 % of the time, see --per-host, now 6`.
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
