/// Recognises captive portals: redirect targets that are not pictures, of hosts that had delivered pictures before. Times are
/// milliseconds of any clock.
package struct CaptivePortals: Sendable {
  /// The kind of a redirect target that is not a picture.
  package enum TargetKind: Equatable, Sendable {
    /// A captive portal: the host, and others, cannot be reached.
    case portal
    /// Not known yet: other hosts may redirect to it, too.
    case suspect
    /// A page of the host.
    case page
  }

  private struct Redirects {
    /// The hosts that redirect to the target.
    var hosts: Set<Int>
    let since: Int
    var last: Int

    var arePortals: Bool { hosts.count >= CaptivePortals.hostLimit }

    /// Whether the redirects are too old to matter.
    func isOld(_ now: Int) -> Bool { now - (arePortals ? last : since) > CaptivePortals.lifetime }
  }

  private var targets: [String: Redirects] = [:]

  /// The number of hosts whose redirects make a target a portal.
  static let hostLimit = 3

  /// How long a target stays a suspect after the first redirect to it, in milliseconds.
  package static let suspicionTime = 2000

  /// The time within which the hosts must redirect to a target, and the time after the last redirect at which a portal is
  /// forgotten; in milliseconds.
  static let lifetime = 60_000

  static let limit = 64

  package init() {}

  /// Whether a target is known to be a portal.
  package func isPortal(_ target: @autoclosure () -> String?) -> Bool {
    guard !targets.isEmpty, let target = target() else { return false }
    return targets[target]?.arePortals == true
  }

  /// Records that a host redirects to a target that is not a picture.
  /// - Parameter hasDelivered: Whether the host has delivered a picture before. Redirects of other hosts make no portal.
  package mutating func redirected(_ host: Int, hasDelivered: Bool, to target: String, now: Int) -> TargetKind {
    if targets[target]?.isOld(now) == true { targets[target] = nil }
    guard hasDelivered else { return isPortal(target) ? .portal : .page }
    var redirects = targets[target] ?? Redirects(hosts: [], since: now, last: now)
    redirects.hosts.insert(host)
    redirects.last = now
    targets[target] = redirects
    if targets.count > Self.limit, let oldest = targets.min(by: { $0.value.last < $1.value.last })?.key {
      targets[oldest] = nil
    }
    if redirects.arePortals { return .portal }
    return now - redirects.since < Self.suspicionTime ? .suspect : .page
  }

  /// Records that a target is a picture.
  package mutating func delivered(_ target: @autoclosure () -> String?) {
    guard !targets.isEmpty, let target = target() else { return }
    targets[target] = nil
  }
}
