/// Recognises captive portals: places, themselves no pictures, to which hosts redirect that had delivered pictures before. Times
/// are milliseconds of any clock.
package struct CaptivePortals: Sendable {
  /// What a place is to which a host redirects, and which is no picture.
  package enum Place: Equatable, Sendable {
    /// A captive portal: the host, and others, cannot be reached.
    case portal
    /// Not known yet: other hosts may redirect to it, too.
    case suspect
    /// A page of the host.
    case page
  }

  private struct Redirects {
    /// Those that redirect to the place.
    var hosts: Set<Int>
    let since: Int
    var last: Int

    var arePortals: Bool { hosts.count >= CaptivePortals.hostLimit }

    /// Whether it was so long ago that it says nothing about now.
    func isOld(_ now: Int) -> Bool { now - (arePortals ? last : since) > CaptivePortals.lifetime }
  }

  private var places: [String: Redirects] = [:]

  /// A place is a portal when so many hosts redirect to it.
  static let hostLimit = 3

  /// How long it is open what a place is after the first redirect to it, in milliseconds.
  package static let suspicionTime = 2000

  /// Within how many milliseconds the hosts are to redirect to a place, and after how many without a redirect a portal is
  /// forgotten.
  static let lifetime = 60_000

  static let limit = 64

  package init() {}

  /// Whether a place is known to be a portal.
  package func isPortal(_ place: @autoclosure () -> String?) -> Bool {
    guard !places.isEmpty, let place = place() else { return false }
    return places[place]?.arePortals == true
  }

  /// Records that a host redirects to a place that is no picture.
  /// - Parameter hasDelivered: Whether a picture of the host was delivered before. Redirects of others make no portal.
  package mutating func redirected(_ host: Int, hasDelivered: Bool, to place: String, now: Int) -> Place {
    if places[place]?.isOld(now) == true { places[place] = nil }
    guard hasDelivered else { return isPortal(place) ? .portal : .page }
    var redirects = places[place] ?? Redirects(hosts: [], since: now, last: now)
    redirects.hosts.insert(host)
    redirects.last = now
    places[place] = redirects
    if places.count > Self.limit, let oldest = places.min(by: { $0.value.last < $1.value.last })?.key {
      places[oldest] = nil
    }
    if redirects.arePortals { return .portal }
    return now - redirects.since < Self.suspicionTime ? .suspect : .page
  }

  /// Records that a place is a picture.
  package mutating func delivered(_ place: @autoclosure () -> String?) {
    guard !places.isEmpty, let place = place() else { return }
    places[place] = nil
  }
}
