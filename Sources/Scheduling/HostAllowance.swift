/// What the operator allows at a host, besides what the host itself allows (see `Throttle`).
package struct HostAllowance: Equatable, Sendable {
  /// Downloads at once. Default: nil, as many as at any host.
  package var downloads: Int?

  /// The least time between two requests, in milliseconds. Default: 0, none.
  package var interval: Int

  package init(downloads: Int? = nil, interval: Int = 0) {
    self.downloads = downloads
    self.interval = interval
  }

  package static let standard = HostAllowance()
}

/// The intervals that rules demand. A place in a queue may be waited for, so an interval counts from the moment at which
/// a download begins its request, not from its start here: until that is known, no other download of the host starts.
extension HostScheduler {
  /// Whether the beginnings of a host's downloads are to be reported.
  package func hasInterval(_ host: Int) -> Bool {
    hosts.slot(of: host).map { hosts.loads[$0].throttle.spacing > 0 } ?? false
  }

  /// Records that a download begins its request, or that it asks nothing because another does.
  /// - Parameters:
  ///   - time: When it begins its request; nil when it makes none.
  ///   - isRepeated: Whether that was recorded before, as that of one that made none and has to make one after all.
  package mutating func downloadBegan(host: Int, at time: Int?, isRepeated: Bool = false) {
    guard let slot = hosts.slot(of: host), hosts.loads[slot].downloading > 0 else { return }
    if !isRepeated { hosts.loads[slot].beginning -= 1 }
    if let time { hosts.loads[slot].throttle.requested(now: time) }
    unblock(slot)
  }

  /// Sets what the operator allows at the hosts that are in use, after a change. Others get theirs when they are used.
  package mutating func setAllowances(_ allowance: (Int) -> HostAllowance) {
    for (host, slot) in hosts.used {
      hosts.loads[slot].allow(allowance(host))
      unblock(slot)
    }
  }

  /// The hosts that are in use, in the order of their numbers.
  package var hostsInUse: [Int] { hosts.used.map(\.host).sorted() }
}
