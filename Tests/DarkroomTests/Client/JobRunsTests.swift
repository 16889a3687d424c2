import Foundation
import Glibc
import Imaging
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Model

/// How the runs of a job end while somebody waits for it.
@Suite struct JobRunsTests {
  private let outbox: Outbox
  private let configuration: Configuration

  init() throws {
    outbox = try Outbox()
    var configuration = Configuration(filters: try Recipe(parsing: "none"), processors: 1)
    configuration.outbox = outbox.root.file("out")
    self.configuration = configuration
  }

  private static func name(_ number: Int) -> String { "2024010\(number)T030405Z-0a1b2c3\(number)" }

  private func report(_ number: Int, _ state: JobOutcome.State, in folder: String? = nil) throws {
    let text = """
      {
      "schema_version":1,
      "job":"job",
      "run_id":"\(Self.name(number))",
      "state":"\(state.rawValue)",
      "entries":[
      ]}

      """
    try outbox.write(text, to: (folder.map { "history/\($0)/" } ?? "") + "report.json")
  }

  private func putAside(_ number: Int) throws { try outbox.root.makeFolder("out/job/history/" + Self.name(number)) }

  /// Has `history` look as if nothing was put there for a while.
  private func age() {
    let time = timespec(tv_sec: 1_700_000_000, tv_nsec: 0)
    utimensat(AT_FDCWD, outbox.folder.history, [time, time], 0)
  }

  @Test(arguments: [false, true])
  func `a run whose report is on its way to the history is not lost`(isOld: Bool) throws {
    try report(1, .succeeded)
    try putAside(0)
    if isOld { age() }
    var runs = try JobRuns("job", configuration)
    // Its folder is there before its report.
    try putAside(2)
    if isOld { age() }
    for _ in 0..<2 { try runs.collect(isOver: false) }
    try report(2, .rejected, in: Self.name(2))
    if isOld { age() }
    try report(3, .succeeded)
    try runs.collect(isOver: true)
    #expect(runs.ended.states == [.succeeded, .rejected])
    #expect(runs.ended.earlier.map(\.report) == [outbox.folder.file("history/\(Self.name(2))/report.json")])
  }

  @Test func `a run counts once, by whatever name its folder goes, and none that ended before`() throws {
    try report(1, .failed)
    var runs = try JobRuns("job", configuration)
    #expect(runs.ended.states == [.failed], "without a new one the last counts")
    try report(2, .rejected)
    try runs.collect(isOver: false)
    for (number, folder) in [(1, Self.name(1)), (2, Self.name(8))] {
      try outbox.root.makeFolder("out/job/history/" + folder)
      try report(number, number == 1 ? .failed : .rejected, in: folder)
    }
    try report(3, .succeeded)
    for _ in 0..<2 { try runs.collect(isOver: true) }
    #expect(runs.ended.states == [.succeeded, .rejected] && runs.ended.earlier.count == 1)
  }

  @Test(
    arguments: [
      // Of the runs: the one whose report is the job's, one that was rejected before, and those that are open.
      (1, 2, [1], [.succeeded, .rejected]), (1, 2, [], [.succeeded, .rejected]), (1, 2, [2], [.succeeded, .rejected]),
      (1, 2, [1, 3], [.succeeded]), (3, 2, [], [.succeeded]),
    ] as [(Int, Int, [Int], Set<JobOutcome.State>)])
  func `a manifest that was rejected before counts if no later one was accepted`(
    last: Int, rejected: Int, open: [Int], states: Set<JobOutcome.State>
  ) throws {
    try report(last, .succeeded)
    try putAside(rejected)
    try report(rejected, .rejected, in: Self.name(rejected))
    var runs = try JobRuns("job", configuration)
    try runs.collect(isOver: false, open: open.map(Self.name))
    try runs.collect(isOver: true)
    #expect(runs.ended.states == states && runs.ended.earlier.isEmpty)
    let history = outbox.folder.file("history/\(Self.name(rejected))/report.json")
    #expect(runs.ended.report == (states.count > 1 ? history : outbox.folder.report))
  }

  @Test func `runs that begin within a second sort by their names`() {
    let times = (0..<200).map { Date(timeIntervalSince1970: 1_700_000_000.5 + Double($0) / 1000) }
    let names = times.map(RunID.make)
    #expect(names == names.sorted() && Set(names).count == 200 && names.allSatisfy(RunID.isMade))
    #expect(names[0].hasPrefix("20231114T221320Z-800"))
  }

  @Test func `a run after the clock was set back sorts behind the earlier runs of its job, and no other is asked for`()
    throws
  {
    let names = RunNames { "20300101T000000Z-fff00000" }
    let now = Date(timeIntervalSince1970: 1_700_000_000.5)
    let foreign = ["notes", "zzzzzzzz", "20999901T000000Z-00000000", ""]
    #expect(try names.make(at: now) { foreign + ["20200101T000000Z-00000000"] }.hasPrefix("20231114T221320Z-800"))
    let later = try names.make(at: now) { foreign + ["20291231T235959Z-ffffffff", "20200101T000000Z-00000000"] }
    #expect(later.hasPrefix("20300101T000000Z-800"), "a second later, with the fraction of now")
    #expect(try names.make(at: now) { [later] }.hasPrefix("20300101T000001Z-800"))
    let latest = try names.make(at: now) { ["99991231T235959Z-00000000"] }
    #expect(latest.hasPrefix("20231114T221320Z-800"), "there is none behind it")
    let newest = try names.make(at: now + 1e9) {
      Issue.record("no run of any job has a later name")
      return []
    }
    #expect(newest.hasPrefix("20550724T"))
  }

  @Test func `what is no report ends the wait only when the job is over, and is a report later`() throws {
    try outbox.write("notes", to: "report.json")
    var runs = try JobRuns("job", configuration)
    #expect(throws: StopError.self) { try runs.collect(isOver: true) }
    #expect(throws: StopError.self) { try runs.collect(isOver: true) }
    try report(1, .succeeded)
    try runs.collect(isOver: true)
    #expect(runs.ended.states == [.succeeded])
  }

  @Test func `runs that begin at the same time have different names, of which each tells the time`() async {
    let date = Date(timeIntervalSince1970: 1_700_000_000.25)
    let names = await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { (0..<5000).map { _ in RunID.make(at: date) } } }
      return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
    }
    #expect(names.count == 40_000)
    #expect(names.allSatisfy { $0.hasPrefix("20231114T221320Z-400") })
  }
}
