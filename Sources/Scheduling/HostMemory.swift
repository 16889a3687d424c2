/// The memory of hosts that have no entries left, so that the next job continues where the last one ended: what they allow,
/// and whether they answer. Times are milliseconds of any clock.
struct HostMemory {
  /// How long the limits of a host are remembered after it could have been asked again.
  static let lifetime = 600_000

  /// How long a host without entries stays given up, or the time for which it was closed still counts: after that, its next
  /// entries wait for it again.
  static let givenUpTime = 60_000

  /// The most hosts that are remembered: the ones that could have been asked for longest are forgotten first.
  static let limit = 10_000

  struct Known {
    var throttle: Throttle
    var breaker: HostBreaker
    /// When the host could have been asked again.
    fileprivate var opened = 0
  }

  private struct Opening: Comparable {
    let opened: Int
    let host: Int

    static func < (a: Opening, b: Opening) -> Bool { (a.opened, a.host) < (b.opened, b.host) }
  }

  private var hosts: [Int: Known] = [:]

  /// The times at which hosts opened, some of which have been taken or kept again since.
  private var openings = PriorityQueue<Opening>()

  var count: Int { hosts.count }

  func contains(_ host: Int) -> Bool { hosts[host] != nil }

  /// Whether a host answers; nil when nothing is remembered of it.
  func breaker(of host: Int) -> HostBreaker? { hosts[host]?.breaker }

  /// Removes and returns the memory of a host; nil when there is none.
  mutating func take(_ host: Int, now: Int) -> Known? {
    guard var known = hosts.removeValue(forKey: host) else { return nil }
    known.throttle = now - known.opened < Self.lifetime ? known.throttle.ofEarlierJob : Throttle()
    if now - known.opened >= Self.givenUpTime { known.breaker.holdAgain(now: now) }
    return known
  }

  mutating func keep(_ throttle: Throttle, _ breaker: HostBreaker, of host: Int, now: Int) {
    guard !throttle.isFree || throttle.nextRequest > now || breaker.hasAnswered || breaker.isGivenUp else {
      return hosts[host] = nil
    }
    let opened = max(now, throttle.until, throttle.nextRequest)
    hosts[host] = Known(throttle: throttle, breaker: breaker, opened: opened)
    openings.insert(Opening(opened: opened, host: host))
    while hosts.count > Self.limit, let first = openings.popFirst() {
      if hosts[first.host]?.opened == first.opened { hosts[first.host] = nil }
    }
    if openings.count > 4 * Self.limit { removeOldOpenings() }
  }

  private mutating func removeOldOpenings() {
    openings = PriorityQueue()
    for (host, known) in hosts { openings.insert(Opening(opened: known.opened, host: host)) }
  }
}

/// The latest news of whether hosts answer: whether the network may be down is decided by all hosts except the failing
/// one.
struct HostNews {
  private var last: (host: Int, isAnswer: Bool)?

  /// The latest news of any host except that of `last`.
  private var other: Bool?

  /// Records that a host has answered, or that a host that answered before has failed.
  mutating func record(_ host: Int, isAnswer: Bool) {
    if let last, last.host != host { other = last.isAnswer }
    last = (host, isAnswer)
  }

  /// Whether the latest news is an answer; `false` without any.
  var isAnswer: Bool { last?.isAnswer ?? false }

  /// Whether the latest news of any other host is an answer; `false` without any.
  func othersAnswer(than host: Int) -> Bool { (last?.host == host ? other : last?.isAnswer) ?? false }
}
