import Foundation
import TestSupport
import Testing

/// What `status` and the events say of jobs that are planned, fetched, replaced and cancelled, compared with their schemas.
@Suite(.blocking) struct JobStateTests {
  private let folders: DarkroomFolders

  /// Has the pictures.
  private let pictures: GatedServer

  /// Has a list of three of them.
  private let lists: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    let pictures = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    self.pictures = pictures
    let list = folders.folder.file("list.txt")
    try (0..<3).map { pictures.url("\($0)") + "\n" }.joined().write(toFile: list, atomically: false, encoding: .utf8)
    lists = try GatedServer(serving: list)
  }

  private static let options = [
    "--downloads", "2", "--first-byte-timeout", "600", "--filters", "none", "--cache-size", "0", "--verbose", "--json",
  ]

  private func dropSource() throws {
    try folders.drop("job.json", #"{"source": "\#(lists.url("list.txt"))"}"#)
  }

  /// Replaces the list by a manifest with the first two of its pictures and another one.
  private func dropReplacement() throws {
    try folders.drop("job.json", "[\"\(pictures.url("0"))\", \"\(pictures.url("1"))\", \"\(pictures.url("x"))\"]")
  }

  private func cancel(_ job: String) throws {
    try folders.ask("cancel", [job]).expect(status: 0)
  }

  /// The states of a job's runs, of a status that follows its schema.
  private func states(_ job: String) throws -> [String] {
    struct Status: Decodable {
      struct Job: Decodable { let job, state: String }
      let jobs: [Job]
    }
    let json = Data(try folders.ask("status", ["--json"]).output.utf8)
    #expect(try JSONSchema.violations(of: json, name: "status.schema.json") == "")
    return try JSONDecoder().decode(Status.self, from: json).jobs.filter { $0.job == job }.map(\.state)
  }

  private func wait(for awaited: [String], of job: String) throws {
    #expect(try eventually({ try states(job) }, is: { $0 == awaited }) == awaited)
  }

  @Test func `the status of a job that is fetched, replaced and cancelled follows its schema`() throws {
    try dropSource()
    let watch = try folders.start("watch", Self.options)
    #expect(try lists.nextRequest() == "/list.txt")
    try wait(for: ["fetching"], of: "job")
    try lists.release(1)
    _ = try (0..<2).map { _ in try pictures.nextRequest() }
    try wait(for: ["running"], of: "job")
    try dropReplacement()
    try wait(for: ["replaced", "waiting"], of: "job")
    try watch.kill()
    try cancel("job")
    // Both runs are of the job.
    try wait(for: ["cancelling", "cancelling"], of: "job")
  }

  @Test func `the events of jobs that are fetched, replaced, removed and cancelled follow their schema`() throws {
    try dropSource()
    let watch = try folders.start("watch", Self.options)
    #expect(try lists.nextRequest() == "/list.txt")
    try lists.release(1)
    _ = try (0..<2).map { _ in try pictures.nextRequest() }
    try dropReplacement()
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try folders.drop("other.txt", pictures.url("y") + "\n")
    try wait(for: ["running"], of: "other")
    try FileManager.default.removeItem(atPath: folders.inbox + "/other.txt")
    #expect(try watch.waitForLine(containing: "other: cancelled: 0 filtered") != nil)
    try cancel("job")
    #expect(try watch.waitForLine(containing: "job: cancelled: 0 filtered") != nil)
    let ended = try watch.stop()
    #expect(try JSONSchema.violations(of: Data(ended.output.utf8), name: "events.schema.json") == "")

    struct Event: Decodable {
      let event: String
      let job, url, why, state: String?
    }
    let events = try ended.output.split(separator: "\n").map {
      try JSONDecoder().decode(Event.self, from: Data($0.utf8))
    }
    func those(_ kind: String) -> [Event] { events.filter { $0.event == kind } }
    #expect(those("job-fetching").map(\.job) == ["job"])
    #expect(those("job-fetching").map(\.url) == [lists.url("list.txt")])
    #expect(those("job-replaced").map(\.job) == ["job"])
    #expect(those("job-cancelled").map(\.job) == ["other", "job"])
    #expect(those("job-cancelled").map(\.why) == ["removed", "requested"])
    #expect(
      those("job-ended").compactMap(\.state).sorted() == ["cancelled", "cancelled"], "nothing ended in the first run")
  }

  @Test func `cancel ends a job while it is being planned, with a row for every entry, and nothing of it starts`()
    throws
  {
    // Half a million events, or lines of rows, would take minutes.
    let watch = try folders.start("watch", Self.options.filter { !["--verbose", "--json"].contains($0) })
    var planned: (job: String, count: Int)?
    // On a quick machine the smaller ones may be planned before the status is written, which is done once a second.
    for count in [60_000, 150_000, 500_000] where planned == nil {
      let job = "large-\(count)"
      try folders.drop(job + ".txt", (0..<count).map { pictures.url("\(job)/\($0)") + "\n" }.joined())
      let seen = try eventually({ try states(job) }, is: { !$0.isEmpty })
      try cancel(job)
      // Otherwise it says how many entries there are.
      let next = try watch.waitForLine(containing: "\(job): ")
      if seen == ["planning"], next?.contains("cancelled, as requested") == true { planned = (job, count) }
      var later: Set<String> = []
      _ = try eventually({ try states(job) }) {
        later.formUnion($0)
        return $0.isEmpty
      }
      #expect(planned == nil || later.isSubset(of: ["planning", "cancelling", "finishing"]), "\(later)")
      #expect(try watch.waitForLine(containing: "\(job): cancelled: 0 filtered") != nil)
    }
    try watch.stop()
    let (job, count) = try #require(planned)
    struct Head: Decodable {
      let state: String
      let counts: Report.Counts
    }
    let head = try JSONDecoder().decode(Head.self, from: folders.contents(job + "/report.json"))
    #expect(head.state == "cancelled" && head.counts == Report.Counts(total: count, filtered: 0, cancelled: count))
    #expect(try folders.contents(job + "/entries.jsonl").count { $0 == UInt8(ascii: "\n") } == count)
    #expect(!folders.exists(job + "/history"))
    #expect(try pictures.requestsSoFar().filter { $0.hasPrefix("/\(job)/") } == [])
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
  }
}
