import System

extension Bound: CustomStringConvertible {
  /// What it is, in words.
  package var description: String {
    switch cause {
    case .pause:
      switch name {
      case "disk": "want of disk space"
      case "memory": "scarce memory"
      case "network": "an outage of the network"
      case let lock?: "the pause by \(lock)"
      case nil: "pauses"
      }
    case .planning: "the reading of its manifest"
    case .otherJobs: "other jobs"
    case .filtrations: "the limit of " + number(of: "filtration", "filtrations")
    case .processors: "the processors"
    case .downloads: "the limit of " + number(of: "download", "downloads")
    case .host where limit == nil: "the interval between requests to \(name ?? "several hosts")"
    case .host:
      (name.map { $0 + "'s limit of " } ?? "the limits of several hosts, ") + number(of: "download", "downloads")
    case .hostHold: (name ?? "hosts") + ", asking to be left alone for a while"
    case .rate: "the limit of " + (limit.map { ByteCount($0).description + " per second" } ?? "the rate")
    case .servers: name.map { "the speed of \($0)" } ?? "the speed of the servers"
    case .retry: "the waits before failed downloads are tried again"
    case .deferred: "entries that are tried again later"
    case .after: "entries that come after others"
    case .disk: "the disk"
    }
  }

  /// What would change it, in words; nil where nothing would.
  var remedy: String? {
    guard let option else { return nil }
    switch cause {
    case .otherJobs: return "\(option) has more of them live at once"
    case .deferred: return "\(option) tells for how long"
    case .pause, .planning, .filtrations, .processors, .downloads, .host, .hostHold, .rate, .servers, .retry, .after,
      .disk:
      return option == Self.hostRules
        ? "the rules for hosts in the configuration file change it" : "\(option) raises it"
    }
  }

  private func number(of one: String, _ many: String) -> String { limit.map { $0.of(one, many) } ?? many }
}
