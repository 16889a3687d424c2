import Foundation
import Manifests
import Scheduling
import TestSupport
import Testing

@testable import Darkroom

/// Variants that wait for another of their entry.
@Suite struct HeldVariantsTests {
  private let run: RunContext
  private let deliveries: Deliveries
  private let jobs = ScheduledJobs()
  private let index: JobIndex

  /// A job of one entry with three variants, the first of which ends elsewhere: the second downloads for the third.
  init() throws {
    deliveries = try Deliveries()
    run = try deliveries.run(1)
    index = try JobIndex(creating: .memory)
    let text = #"{"url": "http://h/a", "name": "n", "variants": [{"name": "x"}, {"name": "y"}, {"name": "z"}]}"#
    try Data(text.utf8).write(to: URL(fileURLWithPath: deliveries.root.file("m.jsonl")))
    let format = try #require(ManifestFileName("m.jsonl")?.format)
    let file = ManifestFile(path: deliveries.root.file("m.jsonl"))
    _ = try Planner(format: format, file: file, defaults: Planned.defaults).plan(into: index)
    #expect(try index.takeOut(0))
    #expect(try index.holdVariants() == 1)
    try index.prepareHosts()
    jobs.scheduler.add(run: 1, index, heldVariants: 1)
  }

  private func record(_ position: Int, failed: Bool) throws -> PhotoRecord {
    let record = PhotoRecord(try #require(try index.entry(at: position)), run: run)
    if failed { record.fail(EntryFailure(code: .download(.connect), message: "", disposition: .final)) }
    return record
  }

  private static let source = PhotoRecord.Source(finalURL: "http://h/a", httpStatus: 200, bytes: 1, sha256: "ab")

  @Test(arguments: [false, true])
  func `only the one that downloads for the others starts them, or fails them`(hasFailed: Bool) throws {
    #expect(try jobs.start() == [1])
    // It has no failure of its own when its row comes from another run.
    for first in [try record(0, failed: true), try record(0, failed: false)] {
      try jobs.scheduler.failVariants(of: first, now: 0)
      try jobs.scheduler.startVariants(of: first, Self.source, now: 0)
      #expect(jobs.scheduler.waitingForOthers(run: 1) == 1)
    }
    #expect(try jobs.scheduler.waitingVariants(for: record(1, failed: false).entry, run: 1) == [2])
    if hasFailed {
      try jobs.scheduler.failVariants(of: record(1, failed: true), now: 0)
      #expect(
        try jobs.scheduler.takeFailingDependents(run: 1, limit: 9, now: 0).map(\.entry.position) == [2])
    } else {
      try jobs.scheduler.startVariants(of: record(1, failed: false), Self.source, now: 0)
      #expect(try jobs.start() == [2])
    }
    #expect(jobs.scheduler.waitingForOthers(run: 1) == 0)
  }

  @Test(arguments: [false, true])
  func `variants that waited in the run before wait for the same one, or for the first of them when that has ended`(
    hasEnded: Bool
  ) throws {
    let index = try JobIndex(creating: .memory)
    try index.fill { for position in 0..<4 { try index.insert(.sample(position, url: "http://h/a")) } }
    try index.prepareHosts()
    let keys = (0..<4).map { EntryKey(priority: 2, position: $0) }
    jobs.scheduler.add(run: 2, index, waitingVariants: [3: [keys[0], keys[1]]])
    #expect(jobs.scheduler.waitingForOthers(run: 2) == 2)
    let left = Set(hasEnded ? [0, 1] : [0, 1, 3])
    #expect(jobs.scheduler.firstVariants(of: left, run: 2) == [hasEnded ? 0 : 3])
    #expect(jobs.scheduler.waitingVariants(run: 2) == (hasEnded ? [1: 0] : [0: 3, 1: 3]))
    #expect(jobs.scheduler.waitingForOthers(run: 2) == (hasEnded ? 1 : 2))
    // What waits for one that has started in this run is not concerned.
    #expect(jobs.scheduler.firstVariants(of: [2], run: 2) == [2])
  }

  @Test func `variants fail as the one for which they wait has in the run before, if it was not downloaded`() throws {
    jobs.scheduler.add(run: 2, index, waitingVariants: [0: [EntryKey(priority: 2, position: 1)]])
    let new = PhotoRecord(try record(0, failed: false).entry, run: try deliveries.run(2))
    let downloaded = try record(0, failed: false)
    downloaded.downloaded(Self.source, taking: .zero)
    downloaded.fail(EntryFailure(code: .filter(.notAnImage), message: "", disposition: .final))
    #expect(try jobs.scheduler.failVariants(of: new, as: downloaded, now: 0).isEmpty)
    let failed = try record(0, failed: true)
    #expect(try jobs.scheduler.failVariants(of: new, as: failed, now: 0) == [1])
    let failing = try jobs.scheduler.takeFailingDependents(run: 2, limit: 9, now: 0)
    #expect(failing.map(\.entry.position) == [1] && failing.first?.other === failed)
    #expect(jobs.scheduler.waitingForOthers(run: 2) == 0)
  }

  @Test func `a run of which nothing starts any more does not read its index, which may be another thread's`() throws {
    #expect(try jobs.start() == [1])
    let (good, bad) = (try record(1, failed: false), try record(1, failed: true))
    jobs.scheduler.stop(run: 1, now: 0)
    try index.database.execute("DROP TABLE entries")
    try jobs.scheduler.startVariants(of: good, Self.source, now: 0)
    try jobs.scheduler.failVariants(of: bad, now: 0)
  }
}
