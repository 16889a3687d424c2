import Testing

@testable import Scheduling

/// When redirects to a place that is no picture mean that hosts cannot be reached.
@Suite struct CaptivePortalsTests {
  private var portals = CaptivePortals()

  @Test mutating func `a place to which three hosts redirect that had delivered pictures is a portal, for all hosts`() {
    #expect(portals.redirected(1, hasDelivered: true, to: "p", now: 0) == .suspect)
    #expect(portals.redirected(1, hasDelivered: true, to: "p", now: 1) == .suspect, "the same host counts once")
    #expect(portals.redirected(2, hasDelivered: true, to: "p", now: 2) == .suspect)
    #expect(!portals.isPortal("p"))
    #expect(portals.redirected(3, hasDelivered: true, to: "q", now: 3) == .suspect, "another place")
    #expect(portals.redirected(3, hasDelivered: true, to: "p", now: 4) == .portal)
    #expect(portals.isPortal("p") && !portals.isPortal("q") && !portals.isPortal(nil))
    #expect(portals.redirected(4, hasDelivered: false, to: "p", now: 5) == .portal)
  }

  @Test mutating func `hosts that have not delivered a picture make no portal`() {
    let places = (1...9).map { portals.redirected($0, hasDelivered: false, to: "p", now: 0) }
    #expect(places.allSatisfy { $0 == .page } && !portals.isPortal("p"))
  }

  @Test mutating func `a page of one host is known as such after two seconds`() {
    #expect(portals.redirected(1, hasDelivered: true, to: "p", now: 0) == .suspect)
    #expect(portals.redirected(1, hasDelivered: true, to: "p", now: 1999) == .suspect)
    #expect(portals.redirected(1, hasDelivered: true, to: "p", now: 2000) == .page)
  }

  @Test(arguments: [(60_000, CaptivePortals.TargetKind.portal), (60_001, .suspect)])
  mutating func `redirects of different minutes make no portal`(third: Int, kind: CaptivePortals.TargetKind) {
    _ = portals.redirected(1, hasDelivered: true, to: "p", now: 0)
    _ = portals.redirected(2, hasDelivered: true, to: "p", now: 0)
    #expect(portals.redirected(3, hasDelivered: true, to: "p", now: third) == kind)
  }

  @Test mutating func `a portal is forgotten when it is a picture, or a minute after the last redirect to it`() {
    for host in 1...3 { _ = portals.redirected(host, hasDelivered: true, to: "p", now: 0) }
    #expect(portals.redirected(1, hasDelivered: true, to: "p", now: 60_000) == .portal)
    #expect(portals.redirected(1, hasDelivered: true, to: "p", now: 120_001) == .suspect)
    for host in 1...3 { _ = portals.redirected(host, hasDelivered: true, to: "p", now: 120_002) }
    portals.delivered("p")
    #expect(!portals.isPortal("p"))
  }

  @Test mutating func `a list of many dead pictures leaves as many places as are remembered`() {
    for host in 1...3 { _ = portals.redirected(host, hasDelivered: true, to: "old", now: 0) }
    for number in 1...CaptivePortals.limit {
      _ = portals.redirected(number, hasDelivered: true, to: "\(number)", now: number)
    }
    #expect(!portals.isPortal("old"))
  }
}
