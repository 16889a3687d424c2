import Scheduling
import System
import Testing

@testable import Darkroom
@testable import Model

/// What keeps a run from being faster follows from what the queues have of it, and what it waits for.
@Suite struct OccupancySampleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sample: OccupancySample
    let bottleneck: Bottleneck?

    init(_ what: String, _ bottleneck: Bottleneck?, _ change: (inout OccupancySample) -> Void) {
      var sample = OccupancySample()
      (sample.downloadLimit, sample.filtrationLimit, sample.processors) = (16, 2, 4)
      change(&sample)
      (testDescription, self.sample, self.bottleneck) = (what, sample, bottleneck)
    }
  }

  static let cases = [
    Case("nothing", nil) { _ in },

    Case("filtrations wait", Bottleneck(.filtrations, option: "--filtrations", limit: 2)) { $0.filtrations(3) },
    Case("filtrations wait, and downloads do, too", Bottleneck(.filtrations, option: "--filtrations", limit: 2)) {
      $0.filtrations(3)
      $0.downloads(20)
    },
    Case("filtrations wait, as many as processors", Bottleneck(.processors)) {
      $0.processors = 2
      $0.filtrations(3)
    },
    Case("filtrations wait, mostly those of others", Bottleneck(.otherJobs)) { $0.filtrations(2, of: 5) },
    Case("filtrations of others wait", Bottleneck(.servers)) {
      $0.filtrations(0, of: 5)
      $0.downloads(1)
    },
    Case("the loop is busy", Bottleneck(.processors)) {
      $0.isLoopBusy = true
      $0.downloads(20)
    },

    Case("the rate holds most downloads", Bottleneck(.rate, option: "--max-rate", limit: 1000)) {
      $0.downloads(16, of: 20)
      ($0.own.heldByTotalRate, $0.maxRate, $0.backlog.isReady) = (8, 1000, true)
    },
    Case("the rate of a host holds most downloads", Bottleneck(.rate, name: "a.test", option: "hosts")) {
      $0.downloads(4)
      ($0.own.heldByHostRate, $0.host) = (3, "a.test")
    },
    Case("the rate holds few downloads", Bottleneck(.servers)) {
      $0.downloads(4)
      $0.own.heldByTotalRate = 1
    },
    Case("a rate, and no download", nil) { $0.maxRate = 1000 },

    Case("downloads wait", Bottleneck(.downloads, option: "--downloads", limit: 16)) { $0.downloads(17) },
    Case("all slots are taken, and more is left", Bottleneck(.downloads, option: "--downloads", limit: 16)) {
      $0.downloads(16)
      $0.backlog.isReady = true
    },
    Case("all slots are taken, and more is left, and the limit is automatic", Bottleneck(.downloads, limit: 16)) {
      $0.downloads(17)
      $0.isDownloadLimitAutomatic = true
    },
    Case("all slots are taken, and nothing is left", Bottleneck(.servers)) { $0.downloads(16) },
    Case("others have most slots", Bottleneck(.otherJobs)) {
      $0.downloads(7, of: 16)
      $0.backlog.isReady = true
    },
    Case("others have all slots", Bottleneck(.otherJobs)) {
      $0.downloads(0, of: 16)
      $0.backlog.isReady = true
    },
    Case("others have all slots, and a host has no room", Bottleneck(.host, name: "a")) {
      $0.downloads(0, of: 16)
      $0.hostBottleneck = Bottleneck(.host, name: "a")
    },

    Case("results fill the window", Bottleneck(.disk)) {
      $0.downloads(2)
      ($0.backlog.isReady, $0.all.deliveries) = (true, 200)
    },
    Case("sources fill the window", Bottleneck(.processors)) {
      $0.filtrations(2)
      $0.backlog.isReady = true
    },
    Case("the sources of others fill the window", Bottleneck(.otherJobs)) {
      $0.filtrations(0, of: 2)
      $0.backlog.isReady = true
    },

    Case("a host has no room", Bottleneck(.host, name: "a")) {
      $0.downloads(6)
      $0.hostBottleneck = Bottleneck(.host, name: "a")
    },

    Case("entries come after what is in progress", Bottleneck(.after)) {
      $0.filtrations(1)
      $0.dependents = 5
    },
    Case("entries come after others, and hosts have no room", Bottleneck(.host)) {
      ($0.dependents, $0.hostBottleneck) = (5, Bottleneck(.host))
    },
    Case("downloads run", Bottleneck(.servers, name: "a")) {
      $0.downloads(3)
      $0.host = "a"
    },
    Case("files are read", Bottleneck(.disk)) {
      $0.downloads(3)
      $0.backlog.host = HostScheduler.files
    },
    Case("a filtration runs", Bottleneck(.processors)) { $0.filtrations(1) },
    Case("results are delivered", Bottleneck(.disk)) { $0.own.deliveries = 1 },
    Case("retries wait", Bottleneck(.retry)) { ($0.backlog.retries, $0.deferred) = (2, 3) },
    Case("entries are deferred", Bottleneck(.deferred, option: "--retry-for")) { $0.deferred = 1 },
  ]

  @Test(arguments: cases) func `the bottleneck is what piles up last on the way`(_ example: Case) {
    #expect(example.sample.bottleneck == example.bottleneck)
  }

  // MARK: Hosts

  private static let two = HostLimit(fixed: 2)
  private static let automatic = HostLimit(connections: 6, streams: 32)

  private static var answering: HostBreaker {
    var breaker = HostBreaker()
    breaker.answerBegan()
    return breaker
  }

  private static var refusing: Throttle {
    var throttle = Throttle()
    _ = throttle.refused(asked: 30, began: 0, now: 0, backoff: Backoff(retries: 3))
    return throttle
  }

  private static let hosts: [(Throttle, HostBreaker, HostAllowance, HostLimit, Bottleneck)] = [
    (Throttle(), answering, .standard, two, Bottleneck(.host, name: "a", option: "--per-host", limit: 2)),
    (Throttle(), answering, .standard, automatic, Bottleneck(.host, name: "a", option: "--per-host")),
    (Throttle(), answering, HostAllowance(downloads: 1), two, Bottleneck(.host, name: "a", option: "hosts", limit: 1)),
    (Throttle(), answering, HostAllowance(interval: 9), two, Bottleneck(.host, name: "a", option: "hosts")),
    (refusing, answering, .standard, two, Bottleneck(.hostHold, name: "a")),
    (Throttle(), HostBreaker(), .standard, automatic, Bottleneck(.servers, name: "a")),
    (Throttle(), HostBreaker(), .standard, two, Bottleneck(.host, name: "a", option: "--per-host", limit: 2)),
  ]

  @Test(arguments: hosts)
  func `a host has no room by a limit, for what it refused, or because it is silent`(
    throttle: Throttle, breaker: HostBreaker, allowance: HostAllowance, places: HostLimit, bottleneck: Bottleneck
  ) {
    #expect(Bottleneck(atHost: "a", throttle, breaker, allowance, places) == bottleneck)
  }
}

extension OccupancySample {
  fileprivate mutating func downloads(_ own: Int, of all: Int? = nil) {
    (self.own.downloads, self.all.downloads) = (own, all ?? own)
  }

  fileprivate mutating func filtrations(_ own: Int, of all: Int? = nil) {
    (self.own.filtrations, self.all.filtrations) = (own, all ?? own)
  }
}
