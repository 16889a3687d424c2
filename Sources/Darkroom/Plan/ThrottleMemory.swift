/// What hosts that asked to be left alone are allowed, by their names: so that the next job goes on where the last one
/// was. It belongs to the thread of `Darkroom`. Times are milliseconds of any clock.
final class ThrottleMemory {
  /// So long after a host could have been asked, and was not, it is like any other.
  static let lifetime = 600_000

  /// More hosts are not remembered: those that are free for longest are forgotten first.
  static let limit = 1000

  private struct Known {
    let throttle: Throttle
    let noted: Int

    var free: Int { max(noted, throttle.until) }
  }

  private var hosts: [String: Known] = [:]

  var isEmpty: Bool { hosts.isEmpty }

  /// What a host is allowed; nil when it is like any other.
  func throttle(of host: String, now: Int) -> Throttle? {
    guard let known = hosts[host], now - known.free < Self.lifetime else { return nil }
    return known.throttle.ofEarlierJob
  }

  /// Takes down what a host is allowed since its last answer.
  func note(_ throttle: Throttle, of host: String, now: Int) {
    guard !throttle.isFree else { return hosts[host] = nil }
    hosts[host] = Known(throttle: throttle, noted: now)
    guard hosts.count > Self.limit else { return }
    hosts = hosts.filter { now - $1.free < Self.lifetime }
    if hosts.count > Self.limit, let first = hosts.min(by: { $0.value.free < $1.value.free }) { hosts[first.key] = nil }
  }
}
