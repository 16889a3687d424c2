import Foundation
import Manifests
import Scheduling
import Testing
import TestSupport

@testable import Darkroom
@testable import JobIndex
@testable import Model
@testable import Planning

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
    #expect(try index.take(0, as: .suspect))
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

  @Test func `a run of which nothing starts any more does not read its index, which may be another thread's`() throws {
    #expect(try jobs.start() == [1])
    let (good, bad) = (try record(1, failed: false), try record(1, failed: true))
    jobs.scheduler.stop(run: 1, now: 0)
    try index.database.execute("DROP TABLE entries")
    try jobs.scheduler.startVariants(of: good, Self.source, now: 0)
    try jobs.scheduler.failVariants(of: bad, now: 0)
  }
}
