/// The throttles of hosts that have no entries left, so that the next job continues where the last one was. Times are
/// milliseconds of any clock.
struct ThrottleMemory {
  /// How long a host is remembered after it could have been asked again.
  static let lifetime = 600_000

  /// The most hosts that are remembered: those that could have been asked for longest are forgotten first.
  static let limit = 1000

  private struct Known {
    let throttle: Throttle
    /// When the host could have been asked again.
    let opened: Int
  }

  private struct Opening: Comparable {
    let opened: Int
    let host: Int

    static func < (a: Opening, b: Opening) -> Bool { (a.opened, a.host) < (b.opened, b.host) }
  }

  private var hosts: [Int: Known] = [:]

  /// When the hosts opened, and others did that were taken or kept again since.
  private var openings = PriorityQueue<Opening>()

  var count: Int { hosts.count }

  func contains(_ host: Int) -> Bool { hosts[host] != nil }

  /// Removes and returns what a host allows; nil when there is nothing to observe.
  mutating func take(_ host: Int, now: Int) -> Throttle? {
    guard let known = hosts.removeValue(forKey: host), now - known.opened < Self.lifetime else { return nil }
    return known.throttle.ofEarlierJob
  }

  /// Keeps what a host allows.
  mutating func keep(_ throttle: Throttle, of host: Int, now: Int) {
    guard !throttle.isFree || throttle.nextRequest > now else { return hosts[host] = nil }
    let known = Known(throttle: throttle, opened: max(now, throttle.until, throttle.nextRequest))
    hosts[host] = known
    openings.insert(Opening(opened: known.opened, host: host))
    while hosts.count > Self.limit, let first = openings.popFirst() {
      if isCurrent(first) { hosts[first.host] = nil }
    }
    if openings.count > 4 * Self.limit { removeOldOpenings() }
  }

  private mutating func removeOldOpenings() {
    openings = PriorityQueue()
    for (host, known) in hosts { openings.insert(Opening(opened: known.opened, host: host)) }
  }

  private func isCurrent(_ opening: Opening) -> Bool { hosts[opening.host]?.opened == opening.opened }
}
