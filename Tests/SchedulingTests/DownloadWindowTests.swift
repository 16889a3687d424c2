import Testing

@testable import Scheduling

/// Downloads that end as fast as a model of network and servers lets so many of them.
private struct Line {
  var window: DownloadWindow
  var now = 0.0
  var ended = 0

  /// Has downloads end for some seconds.
  /// - Parameters:
  ///   - rate: How many a second do with so many at once.
  ///   - failing: The share that fails with so many at once.
  mutating func run(
    seconds: Double, isFull: Bool = true, failing: (Int) -> Double = { _ in 0 }, rate: (Int) -> Double
  ) {
    let until = now + seconds * 1000
    var failures = 0.0
    while now < until {
      now += 1000 / rate(window.limit)
      ended += 1
      failures += failing(window.limit)
      let isFailure = failures >= 1
      if isFailure { failures -= 1 }
      window.started(isFull: isFull)
      window.ended(isFailure: isFailure, now: Int(now))
    }
  }
}

@Suite struct DownloadWindowTests {
  @Test func `it grows while more downloads at once end faster, within seconds`() {
    var line = Line(window: DownloadWindow(upTo: 256))
    line.run(seconds: 5) { Double($0) / 0.3 }
    #expect(line.window.limit == 256)
  }

  @Test(arguments: [60.0, 200, 250])
  func `it stays where more downloads at once are of no use`(most: Double) {
    var line = Line(window: DownloadWindow(upTo: 256))
    line.run(seconds: 60) { min(Double($0) / 0.3, most) }
    // Half as many as are useful would be too few, four times as many a waste.
    #expect(line.window.limit >= Int(most * 0.3 / 2))
    #expect(Double(line.window.limit) <= max(32, most * 0.3 * 4))
    #expect(Double(line.ended) > 0.8 * 60 * min(most, 16 / 0.3))
  }

  @Test func `with tiny files on a fast network it does not hunt`() {
    var line = Line(window: DownloadWindow(upTo: 256))
    var limits: Set<Int> = []
    line.run(seconds: 10) { _ in 8000 }
    for _ in 0..<100 {
      line.run(seconds: 1) { _ in 8000 }
      limits.insert(line.window.limit)
    }
    #expect(limits.isSubset(of: [16, 24]), "\(limits)")
    #expect(line.window.limit == 16)
  }

  @Test func `downloads that end more slowly when there are more bring it back`() {
    var line = Line(window: DownloadWindow(upTo: 256))
    line.run(seconds: 30) { $0 <= 64 ? Double($0) / 0.3 : 100 }
    #expect(line.window.limit == 64)
  }

  @Test func `failures that come of many downloads lower it`() {
    var line = Line(window: DownloadWindow(upTo: 256))
    line.run(seconds: 20, failing: { $0 > 40 ? 0.3 : 0 }) { Double($0) / 0.3 }
    #expect(line.window.limit <= 48)
    #expect(line.window.limit >= 16)
  }

  @Test func `what fails while the network may be down does not lower it`() {
    var line = Line(window: DownloadWindow(upTo: 256))
    line.run(seconds: 5) { Double($0) / 0.3 }
    let now = Int(line.now)
    for turn in 0..<500 { line.window.ended(isFailure: true, isSuspect: true, now: now + 10 * turn) }
    line.window.restart()
    line.run(seconds: 5) { Double($0) / 0.3 }
    #expect(line.window.limit == 256)
    for turn in 0..<500 { line.window.ended(isFailure: true, isSuspect: true, now: now + 10_000 + 10 * turn) }
    line.window.ended(isFailure: true, now: now + 15_000)
    #expect(line.window.limit < 256, "the network was not down")
  }

  @Test func `it does not grow while something else keeps entries from starting`() {
    var line = Line(window: DownloadWindow(upTo: 256))
    line.run(seconds: 20, isFull: false) { Double($0) / 0.3 }
    #expect(line.window.limit == 16)
  }

  @Test func `it grows with downloads of many seconds, too`() {
    var line = Line(window: DownloadWindow(upTo: 256))
    line.run(seconds: 120) { Double($0) / 5 }
    #expect(line.window.limit == 256)
  }

  @Test(arguments: [1, 8, 16, 40]) func `it never leaves what descriptors allow`(most: Int) {
    var line = Line(window: DownloadWindow(upTo: most))
    line.run(seconds: 20) { Double($0) / 0.3 }
    #expect(line.window.limit == most)
    line.run(seconds: 20, failing: { _ in 1 }) { Double($0) / 0.3 }
    #expect(line.window.limit == min(most, 16))
  }

  @Test func `a fixed number stays`() {
    var line = Line(window: DownloadWindow(fixed: 3))
    line.run(seconds: 20, failing: { _ in 0.5 }) { Double($0) / 0.3 }
    #expect(line.window.limit == 3)
  }
}
