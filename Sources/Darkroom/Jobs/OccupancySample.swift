import Model
import Scheduling
import System

/// What the queues have of a run, and what of it is left to start, at one moment: when the loop wakes, before it handles
/// messages, so that the state is that of the wait that has just ended.
struct OccupancySample: Sendable {
  /// Entries by what they are in. What has ended and was not handled yet counts.
  struct Occupancy: Sendable {
    var downloads = 0
    /// Of these, those that the rate of all downloads holds back, and those that the rate of their host does.
    var heldByTotalRate = 0
    var heldByHostRate = 0
    var filtrations = 0
    var deliveries = 0
  }

  var all = Occupancy()
  var own = Occupancy()

  /// How many operations may run at once.
  var downloadLimit = 1
  var filtrationLimit = 1
  var processors = 1

  /// Whether the program finds the limit of downloads itself.
  var isDownloadLimitAutomatic = false
  var maxRate: Int?

  /// Whether the program had much to do besides the operations.
  var isLoopBusy = false
  var backlog = HostScheduler.Backlog()

  /// The name of `backlog.host`; nil when it has none.
  var host: String?

  /// What keeps `backlog.blocked` from having room; nil when there is none.
  var hostBottleneck: Bottleneck?

  /// How many entries are deferred, and how many come after others.
  var deferred = 0
  var dependents = 0

  /// What keeps the run from being faster; nil when nothing is known to. What is last on an entry's way counts first: in
  /// front of it nothing would help.
  var bottleneck: Bottleneck? {
    if own.filtrations > 0, all.filtrations > filtrationLimit {
      guard ownsMost(\.filtrations) else { return Bottleneck(.otherJobs) }
      return filtrationLimit < processors
        ? Bottleneck(.filtrations, option: "--filtrations", limit: filtrationLimit) : Bottleneck(.processors)
    }
    if isLoopBusy { return Bottleneck(.processors) }
    if own.downloads > 0, 2 * (own.heldByTotalRate + own.heldByHostRate) >= own.downloads {
      return own.heldByTotalRate >= own.heldByHostRate
        ? Bottleneck(.rate, option: "--max-rate", limit: maxRate)
        : Bottleneck(.rate, name: host, option: Bottleneck.hostRules)
    }
    if all.downloads >= downloadLimit, backlog.isReady || own.downloads > 0 && all.downloads > downloadLimit {
      guard ownsMost(\.downloads) else { return Bottleneck(.otherJobs) }
      return Bottleneck(.downloads, option: isDownloadLimitAutomatic ? nil : "--downloads", limit: downloadLimit)
    }
    if backlog.isReady {
      // The window is full of files.
      if all.deliveries > all.downloads + all.filtrations { return Bottleneck(.disk) }
      if all.filtrations > 0 { return Bottleneck(ownsMost(\.filtrations) ? .processors : .otherJobs) }
    }
    if let hostBottleneck { return hostBottleneck }
    if dependents > 0 { return Bottleneck(.after) }
    if own.downloads > 0 {
      return backlog.host == HostScheduler.files ? Bottleneck(.disk) : Bottleneck(.servers, name: host)
    }
    if own.filtrations > 0 { return Bottleneck(.processors) }
    if own.deliveries > 0 { return Bottleneck(.disk) }
    if backlog.retries > 0 { return Bottleneck(.retry) }
    return deferred > 0 ? Bottleneck(.deferred, option: "--retry-for") : nil
  }

  private func ownsMost(_ count: KeyPath<Occupancy, Int>) -> Bool { 2 * own[keyPath: count] >= all[keyPath: count] }
}

extension Bottleneck {
  /// What keeps a host from having room for another download.
  /// - Parameter name: nil when there are other such hosts, too.
  init(
    atHost name: String?, _ throttle: Throttle, _ breaker: HostBreaker, _ allowance: HostAllowance, _ places: HostLimit
  ) {
    let isFixed = allowance.downloads != nil || places.isFixed
    if breaker.isClosed || !breaker.responds && (!isFixed || breaker.silences > 0) {
      self.init(.servers, name: name)
    } else if !throttle.isFree {
      self.init(.hostHold, name: name)
    } else if allowance == .standard {
      self.init(.host, name: name, option: "--per-host", limit: places.isFixed ? places.connections : nil)
    } else {
      self.init(.host, name: name, option: Self.hostRules, limit: allowance.downloads)
    }
  }
}
