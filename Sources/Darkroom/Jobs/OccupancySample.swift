import Model
import Scheduling
import System

/// The operations of a run, and its entries that can start, at one moment: when the loop wakes, before it handles
/// messages, so that the state is that of the wait that has just ended.
struct OccupancySample: Sendable {
  /// The numbers of entries by operation. Operations that have ended count until they are handled.
  struct Occupancy: Sendable {
    var downloads = 0
    /// The downloads among these that are limited by the total rate, and by the rate of their host.
    var heldByTotalRate = 0
    var heldByHostRate = 0
    var filtrations = 0
    var deliveries = 0
  }

  var all = Occupancy()
  var own = Occupancy()

  /// The limits of operations at once.
  var downloadLimit = 1
  var filtrationLimit = 1
  var processors = 1

  /// Whether the program adjusts the limit of downloads.
  var isDownloadLimitAutomatic = false
  var maxRate: Int?

  /// Whether the loop was busy for most of the time.
  var isLoopBusy = false
  var backlog = HostScheduler.Backlog()

  /// The name of `backlog.host`; nil when there is none.
  var host: String?

  /// Why `backlog.blocked` has no free slot; nil when there is no such host.
  var hostBottleneck: Bottleneck?

  /// The numbers of entries that are deferred, and that wait for others.
  var deferred = 0
  var dependents = 0

  /// The bottleneck of the run; nil when none is known. Later stages of an entry take precedence, since improving an
  /// earlier stage would not help.
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
      // The window is full of entries that are being delivered.
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
  /// The reason why a host has no free slot.
  /// - Parameter name: nil when there are other such hosts.
  init(
    atHost name: String?, _ throttle: Throttle, _ breaker: HostBreaker, _ allowance: HostAllowance, _ perHost: HostLimit
  ) {
    let isFixed = allowance.downloads != nil || perHost.isFixed
    if breaker.isClosed || !breaker.responds && (!isFixed || breaker.silences > 0) {
      self.init(.servers, name: name)
    } else if !throttle.isFree {
      self.init(.hostHold, name: name)
    } else if allowance == .standard {
      self.init(.host, name: name, option: "--per-host", limit: perHost.isFixed ? perHost.connections : nil)
    } else {
      self.init(.host, name: name, option: Self.hostRules, limit: allowance.downloads)
    }
  }
}
