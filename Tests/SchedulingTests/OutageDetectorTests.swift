import Testing

@testable import Scheduling

@Suite struct OutageDetectorTests {
  private var detector = OutageDetector()

  private mutating func fail(_ times: Int = 1, at now: Int, isSilence: Bool = false) {
    for _ in 0..<times { detector.downloadFailed(isSilence: isSilence, now: now) }
  }

  private mutating func probe(_ now: Int, isWanted: Bool = false) -> OutageDetector.Probe? {
    detector.nextProbe(isWanted: isWanted, now: now)
  }

  private mutating func due(_ now: Int, isWanted: Bool = false) throws -> OutageDetector.Probe {
    let probe = self.probe(now, isWanted: isWanted)
    return try #require(probe)
  }

  private mutating func expectNoProbe(_ now: Int, isWanted: Bool = false) {
    let probe = self.probe(now, isWanted: isWanted)
    #expect(probe == nil)
  }

  /// Answers or fails all probes of a round.
  private mutating func end(_ probe: OutageDetector.Probe, hasAnswered: Bool = false, now: Int) {
    for host in probe.hosts { detector.probed(host, round: probe.round, hasAnswered: hasAnswered, now: now) }
  }

  @Test mutating func `an answer to a request from before the failures says nothing, one from after them does`() throws
  {
    detector.hostAnswered(1)
    let suspicion = detector.suspicion
    fail(at: 100)
    detector.hostAnswered(1, began: 90)
    #expect(detector.isUndecided(suspicion, now: 110))
    _ = try due(110, isWanted: true)
    detector.hostAnswered(1, began: 95)
    #expect(detector.isChecking)
    detector.hostAnswered(1, began: 101)
    #expect(!detector.isChecking && !detector.isUndecided(suspicion, now: 120))
  }

  @Test(arguments: [1, 2, 3, 5], [true, false])
  mutating func `when hosts that answered answer no more, and no probe does, there is an outage`(
    hosts: Int, isSilence: Bool
  ) throws {
    (1...hosts).forEach { detector.hostAnswered($0) }
    let suspicion = detector.suspicion
    fail(4, at: 100, isSilence: isSilence)
    let probe = try due(100)
    #expect(probe.hosts.count == min(3, hosts))
    #expect(probe.needsAnswer == isSilence)
    #expect(detector.isChecking && detector.outageSince == nil)
    end(probe, now: 110)
    #expect(detector.outageSince == 100)
    #expect(detector.isOutage(suspicion))
    #expect(!detector.isUndecided(suspicion, now: 110))
  }

  @Test mutating func `a probe that takes too long has failed`() throws {
    detector.hostAnswered(1)
    fail(4, at: 100)
    _ = try due(100)
    expectNoProbe(4099)
    #expect(detector.outageSince == nil)
    expectNoProbe(4100)
    #expect(detector.outageSince == 100)
  }

  @Test mutating func `one dead host among others that answer is never probed`() throws {
    for now in 0..<1000 {
      detector.hostAnswered(1)
      fail(3, at: now)
      expectNoProbe(now)
    }
  }

  @Test mutating func `a list of dead hosts is no outage`() throws {
    fail(1000, at: 1)
    expectNoProbe(2, isWanted: true)
    #expect(!detector.isUndecided(detector.suspicion, now: 2))
  }

  @Test mutating func `dead hosts at the end of a list are no outage, and are probed less and less`() throws {
    detector.hostAnswered(1)
    var probes = 0
    for now in 0..<1000 {
      fail(at: now)
      guard let probe = self.probe(now) else { continue }
      probes += 1
      end(probe, hasAnswered: true, now: now)
      #expect(detector.outageSince == nil && !detector.isChecking)
    }
    #expect(probes < 25)
  }

  @Test mutating func `before an entry is given up a single failure is enough for a probe`() throws {
    detector.hostAnswered(1)
    let suspicion = detector.suspicion
    fail(at: 5)
    #expect(detector.isUndecided(suspicion, now: 5))
    let probe = try due(5, isWanted: true)
    end(probe, hasAnswered: true, now: 6)
    #expect(!detector.isUndecided(suspicion, now: 6))
    #expect(!detector.isOutage(suspicion))
    // What fails right after that is its host's own failure.
    fail(at: 7)
    #expect(!detector.isUndecided(detector.suspicion, now: 7))
  }

  @Test mutating func `an answer in between decides without a probe`() throws {
    detector.hostAnswered(1)
    let suspicion = detector.suspicion
    fail(3, at: 5)
    detector.hostAnswered(2)
    #expect(!detector.isUndecided(suspicion, now: 6))
    fail(3, at: 7)
    expectNoProbe(7)
  }

  @Test mutating func `probes go on until one succeeds, at most ten seconds apart`() throws {
    for host in 1...3 { detector.hostAnswered(host) }
    fail(4, at: 0)
    end(try due(0), now: 0)
    var times: [Int] = []
    for now in stride(from: 0, through: 3_600_000, by: 100) {
      guard let probe = self.probe(now) else { continue }
      times.append(now)
      end(probe, now: now)
    }
    #expect(times.prefix(5) == [1000, 3000, 7000, 15000, 25000])
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= 10_000 })
    detector.hostAnswered(1)
    #expect(detector.outageSince != nil, "what arrived before is no sign")
    let probe = try due(3_700_000)
    detector.probed(probe.hosts[0], round: probe.round, hasAnswered: true, now: 3_700_000)
    #expect(detector.outageSince == nil)
    detector.probed(probe.hosts[0], round: probe.round, hasAnswered: false, now: 3_700_001)
    #expect(detector.outageSince == nil)
  }

  @Test(arguments: [1, 2]) mutating func `an outage that is known from one or two hosts lasts ten minutes at most`(
    hosts: Int
  ) throws {
    (1...hosts).forEach { detector.hostAnswered($0) }
    fail(4, at: 0)
    end(try due(0), now: 0)
    for now in stride(from: 0, through: 620_000, by: 100) { _ = probe(now) }
    #expect(detector.outageSince == nil)
    fail(100, at: 700_000)
    #expect(!detector.isUndecided(detector.suspicion, now: 700_000))
    expectNoProbe(700_000, isWanted: true)
    detector.hostAnswered(1)
    fail(4, at: 700_001)
    _ = try due(700_001)
  }

  @Test mutating func `a network that comes and goes is an outage each time`() throws {
    var suspicions: [Int] = []
    for turn in 0..<20 {
      let now = turn * 100_000
      detector.hostAnswered(1)
      suspicions.append(detector.suspicion)
      fail(6, at: now)
      end(try due(now), now: now)
      #expect(detector.outageSince == now)
      let probe = try due(now + 1000)
      end(probe, hasAnswered: true, now: now + 1001)
    }
    #expect(suspicions.allSatisfy(detector.isOutage))
    #expect(Set(suspicions).count == 20)
  }

  @Test mutating func `three hosts of one domain are no more than one`() throws {
    for host in 1...3 { detector.hostAnswered(host, domain: 0) }
    fail(4, at: 0)
    end(try due(0), now: 0)
    for now in stride(from: 0, through: 620_000, by: 100) { _ = probe(now) }
    #expect(detector.outageSince == nil)
  }

  @Test mutating func `hosts of different domains are probed first, and all in an outage`() throws {
    for host in 1...3 { detector.hostAnswered(host, domain: host) }
    for host in 4...40 { detector.hostAnswered(host, domain: 0) }
    fail(4, at: 0)
    let check = try due(0)
    #expect(check.hosts == [40, 3, 2])
    end(check, now: 0)
    let probe = try due(1000)
    #expect(probe.hosts.count == 16 && Set(probe.hosts).isSuperset(of: 1...3), "one provider does not displace others")
    detector.probed(1, round: probe.round, hasAnswered: true, now: 1001)
    #expect(detector.outageSince == nil)
    fail(4, at: 2001)
    #expect(try due(2001).hosts.first == 1, "it is known to answer")
  }

  @Test mutating func `hosts that cannot be probed say nothing`() throws {
    for host in 1...3 { detector.hostAnswered(host) }
    let suspicion = detector.suspicion
    fail(4, at: 0)
    let first = try due(0)
    detector.probeBegan(round: first.round, count: 0)
    #expect(!detector.isChecking && detector.outageSince == nil && !detector.isUndecided(suspicion, now: 0))
    fail(4, at: 1)
    let second = try due(1)
    detector.probeBegan(round: first.round, count: 0)
    detector.probeBegan(round: second.round, count: 1)
    #expect(detector.isChecking && detector.outageSince == nil)
    detector.probed(3, round: second.round, hasAnswered: false, now: 2)
    #expect(detector.outageSince == 1, "the others are not waited for")
  }
}
