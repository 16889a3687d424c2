import Foundation
import TestSupport
import Testing

/// A manifest that is replaced while its job is live.
@Suite(.blocking) struct ReplacementTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private static let two = ["--downloads", "2", "--filters", "none", "--verbose", "--cache-size", "0"]

  private func manifest(_ names: some Sequence<Int>) -> String {
    names.map { "{\"name\": \"n\($0)\", \"url\": \"\(server.url("\($0)"))\"}\n" }.joined()
  }

  private func requests(_ count: Int) throws -> [String] { try (0..<count).map { _ in try server.nextRequest() } }

  private func stop(_ watch: DarkroomProcess) throws {
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
  }

  /// Starts a job of which the first entry has a result while the next two are in progress.
  private func start(_ manifest: String) throws -> DarkroomProcess {
    try folders.drop("job.jsonl", manifest)
    let watch = try folders.start("watch", Self.two)
    #expect(Set(try requests(2)) == ["/0", "/1"])
    try server.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    #expect(try requests(1) == ["/2"])
    return watch
  }

  /// The reports in `history`.
  private func history() throws -> [Report] {
    try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/history").sorted().map { run in
      let data = try folders.contents("job/history/\(run)/report.json")
      #expect(try ReportSchema.violations(of: data) == "")
      return try JSONDecoder().decode(Report.self, from: data)
    }
  }

  @Test func `what is unchanged goes on, also in progress, what is gone is cancelled, what is new starts`() throws {
    let watch = try start(manifest(0..<12))
    // One of the two in progress is gone, as are 3 to 6.
    let gone = [1, 3, 4, 5, 6]
    let kept = [0, 2, 7, 8, 9, 10, 11]
    let new = [20, 21, 22, 23]
    try folders.drop("job.jsonl", manifest(new + kept.reversed()))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(40)
    #expect(try watch.waitForLine(containing: "job: succeeded: 11 filtered") != nil)
    try stop(watch)
    try server.note("end")
    var asked: [String] = []
    while asked.last != "/end" { asked += try requests(1) }
    #expect(asked.dropLast().sorted() == ([7, 8, 9, 10, 11] + new).map { "/\($0)" }.sorted(), "nothing twice")

    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 11, filtered: 11) && report.state == "succeeded")
    #expect(report.entries.map(\.name) == (new + kept.reversed()).map { "n\($0)" })
    #expect(report.entries.map(\.index) == Array(0..<11))
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
    let log = try String(decoding: folders.contents("job/entries.jsonl"), as: UTF8.self).split(separator: "\n")
    #expect(log.count == 11 && Set(log.compactMap { $0.firstMatch(of: /"name":"(n\d+)"/)?.1 }).count == 11)
    let earlier = try history()
    #expect(earlier.map(\.state) == ["superseded"])
    let rows = try #require(earlier.first).entries
    // Of the two that were in progress the one that ended first is not known.
    let ended = rows.filter { $0.state == "filtered" }.map(\.name)
    #expect(Set(rows.map(\.name)) == Set(gone.map { "n\($0)" }), "carried entries have rows in the new report only")
    #expect(ended.allSatisfy { $0 == "n1" } && rows.count { $0.state == "cancelled" } == rows.count - ended.count)
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
    #expect(
      try DarkroomProcess.run(script: "\(packageRoot)/script/check-outbox outbox", in: folders.folder).status == 0)
  }

  /// What `--json` prints of an entry that has ended.
  private struct Event: Decodable {
    struct Entry: Decodable {
      let name: String
      let index: Int
    }

    let event: String
    let ended: Int?
    let entry: Entry?
  }

  @Test func `what has left does not start while the new manifest is planned, and goes on if that is rejected`() throws
  {
    let watch = try start(manifest(0..<40))
    try folders.drop("job.jsonl", manifest(100..<30_100) + "[]\n")
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    // Whatever is asked for is answered.
    try server.release(2)
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    #expect(Set(try requests(2)) == ["/3", "/4"], "in its order, whatever had waited in the queue")
    try folders.drop("job.jsonl", manifest(100..<30_100))
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    try server.release(40)
    #expect(try watch.waitForLine(containing: "its manifest was replaced; 0 entries") != nil)
    try server.note("end")
    var asked: [String] = []
    while asked.last != "/end" { asked.append(try server.nextRequest()) }
    #expect(asked.dropLast().allSatisfy { $0.utf8.count > 3 }, "\(asked)")
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
  }

  @Test func `what waits while a manifest is planned that is rejected is asked for once, and ends`() throws {
    let watch = try start(manifest(0..<40))
    try folders.drop("job.jsonl", manifest(100..<30_100) + "[]\n")
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    // The places become free.
    try server.release(2)
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    try server.release(38)
    #expect(try watch.waitForLine(containing: "job: succeeded: 40 filtered") != nil)
    #expect(Set(try requests(37)).count == 37)
    let report = try folders.report("job")
    #expect(report.entries.allSatisfy { $0.attempts == 1 } && report.transfers?.requests == 40)
    try stop(watch)
  }

  @Test func `an entry that goes over to the new run is told of once, with its place there`() throws {
    try folders.drop("job.jsonl", manifest(0..<4))
    let watch = try folders.start("watch", Self.two + ["--json"])
    #expect(Set(try requests(2)) == ["/0", "/1"])
    try folders.drop("job.jsonl", manifest([3, 2, 1, 0]))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(40)
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    watch.send(SIGTERM)
    let run = try watch.finish()
    #expect(run.status == 0)
    let events = try run.output.split(separator: "\n").map {
      try JSONDecoder().decode(Event.self, from: Data($0.utf8))
    }
    // Those that follow the beginning of the new run complete what it has counted.
    let begun = try #require(events.lastIndex { $0.event == "job-started" })
    #expect(events[begun].ended == 0)
    let entries = events[begun...].compactMap(\.entry)
    #expect(entries.sorted { $0.index < $1.index }.map(\.name) == ["n3", "n2", "n1", "n0"])
    #expect(entries.map(\.index).sorted() == [0, 1, 2, 3] && events.compactMap(\.entry).count == 4)
    for name in ["n0", "n1"] {
      #expect(run.error.split(separator: "\n").count { $0.contains("job: \(name): filtered") } == 1, "\(run.error)")
    }
  }

  @Test func `a replacement that is rejected changes nothing, and its report goes to history`() throws {
    let watch = try start(manifest(0..<6))
    try folders.drop("job.jsonl", "{\"name\": 7}\n")
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    for _ in 0..<4 {
      watch.send(SIGHUP)
      #expect(try watch.waitForLine(containing: "configuration") != nil)
    }
    #expect(try folders.inboxNames().isEmpty, "the new manifest has gone, and that removes nothing")
    // Nor for the next process.
    watch.send(SIGTERM)
    #expect(try watch.waitForLine(containing: "stopping") != nil)
    try server.release(20)
    #expect(try watch.finish().status == 0)
    #expect(try history().map(\.state) == ["rejected"])
    #expect(try folders.run(Self.two).status == 0)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 6, filtered: 6) && report.state == "succeeded")
    #expect(try history().map(\.state) == ["rejected"])
  }

  @Test func `a changed recipe over a source that is there filters without downloading`() throws {
    try folders.drop("job.jsonl", manifest(0..<3))
    let watch = try folders.start("watch", ["--downloads", "1", "--verbose"])
    #expect(try requests(1) == ["/0"])
    try server.release(1)
    #expect(try watch.waitForLine(containing: "n0: filtered") != nil)
    #expect(try requests(1) == ["/1"])
    let recipe = "\"filters\": \"sepia(0.2)\", \"name\""
    let changed = manifest(0..<3).replacing("\"name\"", with: recipe, maxReplacements: 1)
    try folders.drop("job.jsonl", changed)
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    try stop(watch)
    try server.note("end")
    #expect(try requests(2) == ["/2", "/end"])
    let rows = try folders.report("job").entries
    #expect(rows.map(\.filters) == ["sepia(0.2)", "sepia(0.8)", "sepia(0.8)"])
  }

  @Test func `a job is replaced, replaced again and cancelled, also while it is paused`() throws {
    let watch = try start(manifest(0..<6))
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
    try folders.drop("job.jsonl", manifest(0..<5))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    #expect(try DarkroomProcess.run(["cancel", "job"] + folders.named).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled, as requested") != nil)
    #expect(try watch.waitForLine(containing: "job: cancelled: 1 filtered, 0 failed, 4 cancelled") != nil)
    try FileManager.default.removeItem(atPath: folders.inbox + "/x.lock")
    try stop(watch)
    #expect(try history().map(\.state) == ["superseded"])
    #expect(try folders.report("job").counts == Report.Counts(total: 5, filtered: 1, cancelled: 4))
    #expect(try folders.staged().isEmpty)
  }

  @Test func `what is replaced while no instance runs is, once the next has begun`() throws {
    let first = try start(manifest(0..<6))
    first.send(SIGTERM)
    #expect(try first.waitForLine(containing: "stopping") != nil)
    try server.release(2)
    #expect(try first.finish().status == 0)
    try folders.drop("job.jsonl", manifest([0, 1, 2, 5, 9]))
    try server.release(40)
    let second = try folders.run(Self.two)
    #expect(second.status == 0, "\(second.error)")
    let report = try folders.report("job")
    #expect(report.counts.total == 5 && report.counts.filtered == 5)
  }

  @Test func `killed at any time while it is replaced, the next start completes the new manifest`() throws {
    for delay in [0, 1000, 3000, 10_000, 30_000, 100_000] as [UInt32] {
      let one = try ReplacementTests()
      let watch = try one.start(one.manifest(0..<6))
      try one.folders.drop("job.jsonl", one.manifest([0, 1, 2, 5, 9]))
      usleep(delay)
      watch.send(SIGKILL)
      _ = try watch.finish()
      try one.server.release(60)
      let next = try one.folders.run(Self.two)
      #expect(next.status == 0, "\(delay): \(next.error)")
      #expect(try one.folders.report("job").entries.map(\.name) == ["n0", "n1", "n2", "n5", "n9"], "\(delay)")
      // A manifest that nobody had accepted yet comes after the old one's end.
      for earlier in try one.history() where earlier.state == "superseded" {
        #expect(earlier.entries.map(\.name) == ["n3", "n4"], "\(delay): only what left")
      }
      let check = try DarkroomProcess.run(script: "\(packageRoot)/script/check-outbox outbox", in: one.folders.folder)
      #expect(check.status == 0, "\(delay): \(check.output)")
    }
  }

  @Test func `a new manifest does not end before the one that it has replaced, so that a restart knows what went over`()
    throws
  {
    let watch = try start(manifest(0..<6))
    // The old run's report cannot be placed.
    let obstacle = folders.outbox + "/job/history"
    try Data().write(to: URL(fileURLWithPath: obstacle))
    try folders.drop("job.jsonl", manifest([0, 1, 2, 9]))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(60)
    #expect(try watch.waitForLine(containing: "the report of job job cannot be worked on now") != nil)
    // Another job of as many entries has ended.
    try folders.drop("other.jsonl", manifest(30..<34))
    #expect(try watch.waitForLine(containing: "other: succeeded") != nil)
    #expect(!folders.exists("job/report.json"))
    watch.send(SIGKILL)
    _ = try watch.finish()
    try FileManager.default.removeItem(atPath: obstacle)
    #expect(try folders.run(Self.two).status == 0)
    #expect(try folders.report("job").entries.map(\.name) == ["n0", "n1", "n2", "n9"])
    #expect(try history().map { $0.entries.map(\.name) } == [["n3", "n4", "n5"]])
    let check = try DarkroomProcess.run(script: "\(packageRoot)/script/check-outbox outbox", in: folders.folder)
    #expect(check.status == 0, "\(check.output)")
  }

  @Test func `of a large manifest of which half is replaced nothing that stayed is asked for twice`() throws {
    try server.release(100_000)
    let (old, new) = (Array(0..<1000), Array(500..<1500))
    try folders.drop("job.jsonl", manifest(old))
    let watch = try folders.start("watch", ["--filters", "none", "--verbose", "--cache-size", "0"])
    var asked = try requests(100)
    try folders.drop("job.jsonl", manifest(new))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.note("replaced")
    #expect(try watch.waitForLine(containing: "job: succeeded: 1000 filtered") != nil)
    try stop(watch)
    try server.note("end")
    while asked.last != "/end" { asked += try requests(1) }
    let paths = asked.dropLast().filter { $0 != "/replaced" }
    let stayed = paths.filter { path in Int(path.dropFirst()).map(new.contains) == true }
    #expect(stayed.count == 1000 && Set(stayed).count == 1000, "nothing twice")
    let after = asked.drop { $0 != "/replaced" }.dropFirst().dropLast()
    #expect(after.allSatisfy { path in Int(path.dropFirst()).map(new.contains) == true }, "nothing that left")
    let report = try folders.report("job")
    #expect(report.counts.total == 1000 && report.counts.filtered == 1000)
    let earlier = try #require(try history().first)
    #expect(Set(earlier.entries.map(\.name)) == Set((0..<500).map { "n\($0)" }))
    #expect(
      try DarkroomProcess.run(script: "\(packageRoot)/script/check-outbox outbox", in: folders.folder).status == 0)
  }
}
