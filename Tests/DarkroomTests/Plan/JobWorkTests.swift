import TestSupport
import Testing
import Transfer

@testable import Darkroom

@Suite struct JobWorkTests {
  private let folder: TemporaryFolder
  private let index: JobIndex

  init() throws {
    folder = try TemporaryFolder()
    index = try JobIndex(creating: folder.file("index.sqlite"))
  }

  /// Fills the index with entries of a host and a priority each.
  private func fill(_ entries: [(host: String, turn: Int)], into other: JobIndex? = nil) throws {
    let index = other ?? index
    try index.fill {
      for (position, entry) in entries.enumerated() {
        try index.insert(
          JobIndexRow(
            position: position, turn: entry.turn, name: "n\(position)", original: nil, isExplicit: false,
            url: entry.host.isEmpty ? "a.jpg" : "http://\(entry.host)/", recipe: "none", format: "keep", quality: 85,
            metadata: nil, checksum: nil))
      }
      try index.settleDerivedNames()
    }
  }

  private func begin(_ work: JobWork, perHost: Int = 2, now: Int = 0) throws -> [Int] {
    var positions: [Int] = []
    while let next = try work.next(now: now, perHost: perHost) { positions.append(next.row.position) }
    return positions
  }

  @Test(arguments: [1, 2, 700])
  func `entries of many hosts come by priority, then in manifest order`(hosts: Int) throws {
    let turns = (0..<1500).map { ($0 * 7919) % 5 }
    try fill(turns.enumerated().map { ("h\($0 % hosts)", $1) })
    let expected = turns.indices.sorted { (turns[$0], $0) < (turns[$1], $1) }
    #expect(try JobWork(index).everything().map(\.position) == expected)
  }

  @Test func `what ended before the start is not begun`() throws {
    try fill(Array(repeating: ("h", 2), count: 600))
    for position in stride(from: 0, to: 600, by: 2) { try index.markEnded(position) }
    #expect(try JobWork(index).everything().map(\.position) == Array(stride(from: 1, to: 600, by: 2)))
  }

  @Test func `a host's entries are begun as it has room, those of others meanwhile`() throws {
    try fill([("a", 2), ("a", 2), ("a", 2), ("A", 2), ("b", 2), ("b:8080", 2), ("b", 2)])
    let work = try JobWork(index)
    #expect(try begin(work) == [0, 1, 4, 5])
    try work.leave(1)
    #expect(try begin(work) == [2])
    try work.leave(4)
    try work.leave(4)
    #expect(try begin(work) == [6], "a download ends once")
  }

  @Test func `files have no host and no limit`() throws {
    try fill(Array(repeating: ("", 2), count: 50))
    #expect(try begin(JobWork(index)).count == 50)
  }

  @Test func `a retry waits for its time, then comes before what follows it in the manifest`() throws {
    try fill(Array(repeating: ("a", 2), count: 4))
    let work = try JobWork(index)
    #expect(try begin(work, perHost: 1) == [0])
    try work.leave(0)
    work.retry(0, attempts: 1, due: 1000)
    #expect(work.waitingRetries == 1)
    #expect(work.nextChange == 1000)
    #expect(try begin(work, perHost: 1, now: 999) == [1])
    try work.leave(1)
    let next = try #require(try work.next(now: 1000, perHost: 1))
    #expect(next.row.position == 0 && next.attempts == 1)
    #expect(work.waitingRetries == 0)
  }

  @Test func `a retry that is due and finds no room is not waited for`() throws {
    try fill(Array(repeating: ("a", 2), count: 3))
    let work = try JobWork(index)
    for (position, due) in [(0, 100), (1, 200)] {
      #expect(try begin(work, perHost: 1) == [position])
      try work.leave(position)
      work.retry(position, attempts: 1, due: due)
    }
    #expect(try begin(work, perHost: 1, now: 99) == [2])
    #expect(work.nextChange == 100)
    #expect(try begin(work, perHost: 1, now: 100) == [])
    #expect(work.nextChange == 200, "room comes with a message")
    #expect(try begin(work, perHost: 1, now: 200) == [])
    #expect(work.nextChange == nil)
    try work.leave(2)
    #expect(try begin(work, perHost: 2, now: 200) == [0, 1], "both are there when there is room")
  }

  @Test func `the retry of a host's last entry is begun`() throws {
    try fill([("a", 2)])
    let work = try JobWork(index)
    for attempt in 1...3 {
      #expect(try begin(work, now: attempt * 10) == [0])
      try work.leave(0)
      work.retry(0, attempts: attempt, due: attempt * 10 + 5)
      #expect(try begin(work, now: attempt * 10) == [])
    }
    #expect(try work.next(now: 100, perHost: 1)?.attempts == 3)
  }

  @Test func `an entry put off for want of space has not been tried`() throws {
    try fill([("a", 2), ("", 2)])
    let work = try JobWork(index)
    #expect(try begin(work) == [0, 1])
    for position in 0...1 {
      try work.leave(position)
      work.retry(position, attempts: nil, due: 0)
    }
    #expect(try work.next(now: 0, perHost: 1)?.attempts == 0)
    #expect(try work.next(now: 0, perHost: 1)?.attempts == 0)
  }

  @Test func `a host that is held is left alone, the others are not`() throws {
    try fill([("a", 2), ("a", 2), ("b", 2)])
    let work = try JobWork(index)
    #expect(try work.next(now: 0, perHost: 1)?.row.position == 0)
    #expect(try work.leave(0, .refused(0.5)) == 0.5)
    #expect(try begin(work, now: 499) == [2])
    #expect(work.nextChange == 500)
    #expect(try begin(work, now: 500) == [1])
  }

  @Test func `what was asked of servers adds up, and files are no servers`() throws {
    try fill([("a", 2), ("b", 2), ("", 2)])
    let work = try JobWork(index)
    _ = try begin(work)
    try work.leave(0, .served, JobWork.Usage(requests: .init(sent: 1, reused: 0), bytes: 10))
    work.retry(0, attempts: 1, due: 0)
    _ = try begin(work)
    try work.leave(0, .served, JobWork.Usage(requests: .init(sent: 1, reused: 1), bytes: 5))
    try work.leave(1, .served, JobWork.Usage(requests: .init(sent: 1, reused: 0), bytes: 1))
    try work.leave(2, .served, JobWork.Usage(requests: .init(sent: 1, reused: 0), bytes: 99))
    #expect(work.transfers.total == .init(requests: 3, retries: 1, bytes: 16, connections_reused: 1))
    #expect(
      work.transfers.hosts.map { [$0.host, "\($0.counts.requests)", "\($0.counts.bytes)"] } == [
        ["a", "2", "15"], ["b", "1", "1"],
      ])
  }

  @Test func `what a host refuses is counted, and does not count among the tries of what follows`() throws {
    try fill([("a", 2)])
    let work = try JobWork(index)
    for attempt in 1...3 {
      #expect(try begin(work, now: attempt * 100_000) == [0])
      #expect(work.uncounted(of: 0) == attempt - 1)
      try work.leave(0, .refused(1), now: attempt * 100_000)
      work.retry(0, attempts: attempt, isRefused: true, due: attempt * 100_000)
    }
    let next = try #require(try work.next(now: 400_000, perHost: 1))
    #expect(next.attempts == 3 && work.uncounted(of: 0) == 3)
    try work.leave(0, now: 400_000)
    work.retry(0, attempts: 4, due: 400_000)
    #expect(try begin(work, now: 500_000) == [0])
    #expect(work.uncounted(of: 0) == 3)
  }

  @Test func `a host that asked another job to be left alone is left alone, then probed, and others are not`() throws {
    let memory = ThrottleMemory()
    try fill([("a", 2), ("a", 2), ("a", 2), ("b", 2)])
    let first = try JobWork(index)
    first.memory = memory
    #expect(try first.next(now: 0, perHost: 6)?.row.position == 0)
    try first.leave(0, .refused(0.5))
    let other = try JobIndex(creating: folder.file("other.sqlite"))
    try fill([("b", 2), ("a", 2), ("a", 2), ("a", 2)], into: other)
    let second = try JobWork(other)
    second.memory = memory
    #expect(try begin(second, now: 100) == [0])
    #expect(second.nextChange == 500)
    #expect(try second.heldHosts(now: 100, limit: 9).hosts.map(\.name) == ["a"])
    #expect(try begin(second, now: 500) == [1], "one probe")
    try second.leave(1, now: 510)
    #expect(try begin(second, perHost: 6, now: 10_000) == [2], "and then one after the other")
  }

  /// Fills the index with one entry and its mirrors, and others.
  private func fill(mirrors: [String], then others: [String] = []) throws {
    let rows = [(mirrors[0], Array(mirrors.dropFirst()))] + others.map { ($0, []) }
    try index.fill {
      for (position, (url, rest)) in rows.enumerated() {
        try index.insert(
          JobIndexRow(
            position: position, turn: 2, name: "n\(position)", original: nil, isExplicit: false, url: url,
            recipe: "none", format: "keep", quality: 85, metadata: nil, checksum: nil,
            request: StoredRequest(mirrors: rest, request: .plain).text))
      }
      try index.settleDerivedNames()
    }
  }

  @Test func `an entry goes on to its next mirror, with all of its retries, at that mirror's host`() throws {
    let urls = ["http://a/1", "http://b/1", "c.jpg"]
    try fill(mirrors: urls, then: ["http://a/2", "http://b/2", "http://b/3"])
    let work = try JobWork(index)
    #expect(try begin(work, perHost: 1) == [0, 2])
    try work.leave(0, .served, JobWork.Usage(requests: .init(sent: 1, reused: 0)))
    try work.turn(0, to: urls[1], attempts: 2, now: 0)
    #expect(try begin(work, perHost: 1) == [1], "the next of a; b has no room")
    try work.leave(2)
    let next = try #require(try work.next(now: 0, perHost: 1))
    #expect(next.row.position == 0 && next.mirror == 1 && next.attempts == 2)
    #expect(work.uncounted(of: 0) == 2, "none of them was b's")
    #expect(try next.row.entry(mirror: next.mirror).url == urls[1])
    #expect(try next.row.entry(mirror: next.mirror).mirrors == [urls[2]])
    try work.leave(0, .none, JobWork.Usage(requests: .init(sent: 1, reused: 0)))
    #expect(work.transfers.hosts.map(\.host) == ["a", "b"])
    try work.turn(0, to: urls[2], attempts: 3, now: 0)
    #expect(try work.next(now: 0, perHost: 1)?.mirror == 2)
    #expect(try begin(work, perHost: 1) == [3])
  }

  @Test func `a host that a mirror has made busy is not begun beyond its room`() throws {
    try fill(mirrors: ["http://a/1", "http://b/1"], then: ["http://b/2"])
    let work = try JobWork(index)
    #expect(try work.next(now: 0, perHost: 1)?.row.position == 0)
    try work.leave(0)
    try work.turn(0, to: "http://b/1", attempts: 1, now: 0)
    #expect(try begin(work, perHost: 1) == [0])
    try work.leave(0, .refused(5), now: 10)
    work.end(0)
    #expect(try begin(work, perHost: 1, now: 20) == [], "and its wish is heard")
    #expect(try begin(work, perHost: 1, now: 5010) == [1])
  }
}
