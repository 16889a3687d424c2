import Scheduling
import Testing

@testable import Darkroom

/// What bounds a run follows from what it has in progress and what it waits for.
@Suite struct RunLoadTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let load: RunLoad
    let bound: Bound?

    init(_ what: String, _ bound: Bound?, _ change: (inout RunLoad) -> Void) {
      var load = RunLoad()
      load.downloads.limit = 16
      load.filtrations.limit = 2
      load.processors = 4
      change(&load)
      (testDescription, self.load, self.bound) = (what, load, bound)
    }
  }

  private static func downloads(_ own: Int, of all: Int? = nil) -> RunLoad.Queue {
    .init(all: all ?? own, own: own, limit: 16)
  }

  private static func filtrations(_ own: Int, of all: Int? = nil) -> RunLoad.Queue {
    .init(all: all ?? own, own: own, limit: 2)
  }

  static let cases = [
    Case("nothing", nil) { _ in },
    Case("a pause, whatever else there is", Bound(.pause, name: "x.lock")) {
      $0.pause = "x.lock"
      $0.downloads = downloads(16)
      $0.backlog.isReady = true
    },
    Case("a pause before it begins", Bound(.pause, name: "disk")) { ($0.pause, $0.stage) = ("disk", .ready) },
    Case("planning", Bound(.planning)) { $0.stage = .planning },
    Case("no place among jobs", Bound(.otherJobs, option: "--jobs")) { $0.stage = .ready },

    Case("filtrations wait", Bound(.filtrations, option: "--filtrations", limit: 2)) {
      $0.filtrations = filtrations(3)
    },
    Case("filtrations wait, and downloads do, too", Bound(.filtrations, option: "--filtrations", limit: 2)) {
      ($0.filtrations, $0.downloads) = (filtrations(3), downloads(20))
    },
    Case("filtrations wait, as many as processors", Bound(.processors)) {
      ($0.filtrations, $0.processors) = (filtrations(3), 2)
    },
    Case("filtrations wait, mostly those of others", Bound(.otherJobs)) { $0.filtrations = filtrations(2, of: 5) },
    Case("filtrations of others wait", Bound(.servers)) {
      ($0.filtrations, $0.downloads) = (filtrations(0, of: 5), downloads(1))
    },
    Case("the loop is busy", Bound(.processors)) { ($0.isLoopBusy, $0.downloads) = (true, downloads(20)) },

    Case("the rate holds most downloads", Bound(.rate, option: "--max-rate", limit: 1000)) {
      ($0.heldByTotalRate, $0.totalRate, $0.downloads) = (8, 1000, downloads(16, of: 20))
      $0.backlog.isReady = true
    },
    Case("the rate of a host holds most downloads", Bound(.rate, name: "a.test", option: "hosts")) {
      ($0.heldByHostRate, $0.downloads, $0.onlyHost) = (3, downloads(4), "a.test")
    },
    Case("the rate holds few downloads", Bound(.servers)) { ($0.heldByTotalRate, $0.downloads) = (1, downloads(4)) },
    Case("a rate, and no download", nil) { $0.totalRate = 1000 },

    Case("downloads wait", Bound(.downloads, option: "--downloads", limit: 16)) { $0.downloads = downloads(17) },
    Case("all places are taken, and more is left", Bound(.downloads, option: "--downloads", limit: 16)) {
      $0.downloads = downloads(16)
      $0.backlog.isReady = true
    },
    Case("all places are taken, and more is left, and the number is found", Bound(.downloads, limit: 16)) {
      ($0.downloads, $0.isDownloadLimitFound) = (downloads(17), true)
    },
    Case("all places are taken, and nothing is left", Bound(.servers)) { $0.downloads = downloads(16) },
    Case("others have the places", Bound(.otherJobs)) {
      $0.downloads = downloads(7, of: 16)
      $0.backlog.isReady = true
    },
    Case("others have all places", Bound(.otherJobs)) {
      $0.downloads = downloads(0, of: 16)
      $0.backlog.isReady = true
    },
    Case("others have all places, and a host has no room", Bound(.host, name: "a", option: "--per-host", limit: 6)) {
      $0.downloads = downloads(0, of: 16)
      ($0.backlog.shortage, $0.host) = (.places(6), "a")
    },

    Case("results fill the window", Bound(.disk)) {
      ($0.backlog.isReady, $0.isFullOfUndelivered, $0.downloads) = (true, true, downloads(2))
    },
    Case("as much is downloaded as may be", Bound(.processors)) {
      ($0.backlog.isReady, $0.filtrations) = (true, filtrations(2))
    },
    Case("others have downloaded as much as may be", Bound(.otherJobs)) {
      ($0.backlog.isReady, $0.filtrations) = (true, filtrations(0, of: 2))
    },

    Case("a host is at its limit", Bound(.host, name: "a", option: "--per-host", limit: 6)) {
      ($0.backlog.shortage, $0.host, $0.downloads) = (.places(6), "a", downloads(6))
    },
    Case("several hosts are", Bound(.host, option: "--per-host", limit: 6)) {
      ($0.backlog.shortage, $0.downloads) = (.places(6), downloads(12))
    },
    Case("the limit is a rule's", Bound(.host, name: "a", option: "hosts", limit: 1)) {
      ($0.backlog.shortage, $0.host) = (.rule(1), "a")
    },
    Case("the interval of a rule", Bound(.host, name: "a", option: "hosts")) {
      ($0.backlog.shortage, $0.host) = (.interval, "a")
    },
    Case("a host is on hold", Bound(.hostHold, name: "a")) { ($0.backlog.shortage, $0.host) = (.hold, "a") },
    Case("a host is silent", Bound(.servers, name: "a")) { ($0.backlog.shortage, $0.host) = (.silence, "a") },

    Case("entries come after what is in progress", Bound(.after)) {
      ($0.dependents, $0.filtrations) = (5, filtrations(1))
    },
    Case("entries come after others, and one host has no room", Bound(.host, option: "--per-host", limit: 6)) {
      ($0.dependents, $0.backlog.shortage) = (5, .places(6))
    },
    Case("downloads run", Bound(.servers, name: "a")) { ($0.downloads, $0.onlyHost) = (downloads(3), "a") },
    Case("files are read", Bound(.disk)) {
      ($0.downloads, $0.backlog.onlyHost) = (downloads(3), HostScheduler.files)
    },
    Case("a filtration runs", Bound(.processors)) { $0.filtrations = filtrations(1) },
    Case("results are delivered", Bound(.disk)) { $0.undelivered = 1 },
    Case("retries wait", Bound(.retry)) { ($0.backlog.retries, $0.deferred) = (2, 3) },
    Case("retries wait, and a host is on hold", Bound(.hostHold, name: "a")) {
      ($0.backlog.retries, $0.backlog.isHeld, $0.host) = (1, true, "a")
    },
    Case("entries are deferred", Bound(.deferred, option: "--retry-for")) { $0.deferred = 1 },
  ]

  @Test(arguments: cases) func `what bounds a run is what piles up last on the way`(_ example: Case) {
    #expect(example.load.bound == example.bound)
  }

  @Test func `each cause is found in some load`() {
    #expect(Set(Self.cases.compactMap { $0.load.bound?.cause }) == Set(Bound.Cause.allCases))
  }
}
