/// The operator's limits for a host, besides the host's own (see `Throttle`).
package struct HostAllowance: Equatable, Sendable {
  /// Downloads at once. Default: nil, the general limit.
  package var downloads: Int?

  /// The least time between two requests, in milliseconds. Default: 0, none.
  package var interval: Int

  package init(downloads: Int? = nil, interval: Int = 0) { (self.downloads, self.interval) = (downloads, interval) }

  package static let standard = HostAllowance()
}

/// The intervals that rules demand. A download may wait in a queue, so an interval counts from the moment at which it begins
/// its request, not from its start here: until that is known, no other download of the host starts.
extension HostScheduler {
  /// Whether `downloadBegan` must be called for the host's downloads.
  package func hasInterval(_ host: Int) -> Bool {
    hosts.slot(of: host).map { hosts.loads[$0].throttle.spacing > 0 } ?? false
  }

  /// Records that a download begins its request, or makes none because another download fetches the same.
  /// - Parameters:
  ///   - time: When it begins its request; nil when it makes none.
  ///   - isRepeated: Whether it was recorded before as making no request, and makes one after all.
  package mutating func downloadBegan(host: Int, at time: Int?, isRepeated: Bool = false) {
    guard let slot = hosts.slot(of: host), hosts.loads[slot].downloading > 0 else { return }
    if !isRepeated { hosts.loads[slot].beginning -= 1 }
    if let time { hosts.loads[slot].throttle.requested(now: time) }
    unblock(slot)
  }

  /// Sets the operator's limits for the hosts in use, after a change. Other hosts get theirs when they are used.
  package mutating func setAllowances(_ allowance: (Int) -> HostAllowance) {
    for (host, slot) in hosts.used {
      hosts.loads[slot].allow(allowance(host))
      unblock(slot)
    }
  }

  /// The hosts in use, in the order of their numbers.
  package var hostsInUse: [Int] { hosts.used.map(\.host).sorted() }
}
