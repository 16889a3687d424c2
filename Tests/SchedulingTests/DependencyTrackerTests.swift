import Scheduling
import TestSupport
import Testing

@Suite struct DependencyTrackerTests {
  /// Who comes after whom, and a tracker of it, as a job's index and scheduler use it.
  private struct Job {
    var tracker: DependencyTracker
    private let dependents: [Int: [Int]]
    private let counts: [Int: Int]
    private(set) var released: [Int] = []
    private(set) var failed: [DependencyTracker.Failing] = []
    private(set) var longestPage = 0

    /// - Parameter after: The entries that others come after, by these.
    init(after: [Int: [Int]], unsuccessful: [Int] = []) {
      var dependents: [Int: [Int]] = [:]
      for (entry, dependencies) in after { for other in dependencies { dependents[other, default: []].append(entry) } }
      self.dependents = dependents.mapValues { $0.sorted() }
      counts = after.mapValues(\.count)
      tracker = DependencyTracker(waiting: after.count, unsuccessful: unsuccessful)
    }

    mutating func end(_ position: Int, hasSucceeded: Bool = true) {
      tracker.ended(position, hasSucceeded: hasSucceeded)
      settle()
    }

    /// Has all that follows from what has ended happen.
    mutating func settle() {
      while tracker.hasWork || tracker.hasFailing {
        let page = tracker.advance(
          dependents: { entry, last in
            let page = (dependents[entry] ?? []).drop { $0 <= last }.prefix(DependencyTracker.pageSize)
            return page.map { (host: 0, key: EntryKey(priority: 2, position: $0)) }
          }, dependencies: { counts[$0] ?? 0 })
        released += page.map(\.key.position)
        longestPage = max(longestPage, page.count)
        failed += tracker.takeFailing(limit: 100)
      }
    }
  }

  @Test func `an entry is released when the last that it comes after has succeeded, and once`() {
    var job = Job(after: [2: [0, 1], 3: [2]])
    #expect(job.tracker.waiting == 2)
    job.end(1)
    #expect(job.released == [])
    job.end(0)
    #expect(job.released == [2])
    job.end(2)
    job.end(3)
    #expect(job.released == [2, 3] && job.failed == [] && job.tracker.waiting == 0)
  }

  @Test func `one that comes after a failure fails once, names it, and so do those after it`() {
    var job = Job(after: [2: [0, 1], 3: [2], 4: [1, 3]])
    job.end(0)
    job.end(1, hasSucceeded: false)
    #expect(Set(job.failed.map(\.position)) == [2, 3, 4] && job.failed.count == 3)
    #expect(job.failed.allSatisfy { $0.cause == 1 })
    #expect(job.failed.first { $0.position == 3 }?.dependency == 2)
    // Their rows say that they failed, too.
    for position in 2...4 { job.end(position, hasSucceeded: false) }
    #expect(job.failed.count == 3 && job.released == [] && job.tracker.waiting == 0)
  }

  @Test func `what an earlier process saw fail has its consequences at the start`() {
    var job = Job(after: [1: [0], 2: [1]], unsuccessful: [0])
    job.settle()
    #expect(job.failed.map(\.position) == [1, 2])
  }

  @Test func `a chain of 200 000 fails without recursion and without being known at once`() {
    let count = 200_000
    var job = Job(after: Dictionary(uniqueKeysWithValues: (1..<count).map { ($0, [$0 - 1]) }))
    job.end(0, hasSucceeded: false)
    #expect(job.failed.count == count - 1 && job.tracker.waiting == 0)
  }

  @Test func `very many entries after one are told a page at a time`() {
    let count = 100_000
    var job = Job(after: Dictionary(uniqueKeysWithValues: (1..<count).map { ($0, [0]) }))
    job.end(0)
    #expect(job.released == Array(1..<count))
    #expect(job.longestPage == DependencyTracker.pageSize)
  }

  @Test func `one entry after very many is released once, and counts them only once`() {
    var job = Job(after: [100_000: Array(0..<100_000)])
    for position in 0..<100_000 { job.end(position) }
    #expect(job.released == [100_000])
  }

  @Test(arguments: 0..<64 as Range<UInt64>)
  func `of random entries exactly those are released after which nothing is left, the rest fail`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let count = 60
    var after: [Int: [Int]] = [:]
    for position in 1..<count where Int.random(in: 0..<3, using: &random) > 0 {
      after[position] = Array(
        Set(
          (0..<Int.random(in: 1...4, using: &random)).map { _ in
            Int.random(in: 0..<position, using: &random)
          }))
    }
    let bad = Set((0..<count).filter { _ in Int.random(in: 0..<8, using: &random) == 0 })
    var succeeds: Set<Int> = []
    var starts: Set<Int> = []
    for position in 0..<count where (after[position] ?? []).allSatisfy(succeeds.contains) {
      starts.insert(position)
      if !bad.contains(position) { succeeds.insert(position) }
    }
    var job = Job(after: after)
    var ready = (0..<count).filter { after[$0] == nil }
    var started: Set<Int> = []
    while let position = ready.randomElement(using: &random) {
      ready.removeAll { $0 == position }
      #expect(started.insert(position).inserted)
      let before = job.released.count
      job.end(position, hasSucceeded: !bad.contains(position))
      ready += job.released[before...]
    }
    #expect(started == starts)
    #expect(Set(job.failed.map(\.position)) == Set(0..<count).subtracting(starts))
    #expect(job.failed.count == count - starts.count && job.tracker.waiting == 0)
    for failing in job.failed {
      #expect(after[failing.position]?.contains(failing.dependency) == true && bad.contains(failing.cause))
    }
  }
}
