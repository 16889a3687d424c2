import Foundation
import TestSupport
import Testing

/// Manifests that are replaced, rejected or cancelled: who waits for the job, reads the log or asks for the status is told.
@Suite(.blocking) struct ReplacementStatusTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
  }

  private static let options = ["--filters", "none", "--verbose", "--cache-size", "0", "--downloads", "2"]

  private func manifest(_ names: some Sequence<Int>) -> String {
    names.map { "{\"name\": \"n\($0)\", \"url\": \"\(server.url("\($0)"))\"}\n" }.joined()
  }

  private func wait(_ more: [String] = []) throws -> DarkroomProcess.Finished {
    try DarkroomProcess.run(["wait", "job", "--poll-interval", "0.05"] + folders.named + more)
  }

  private func status() throws -> [String] {
    let json = try DarkroomProcess.run(["status", "--json"] + folders.named).output
    #expect(try JSONSchema.violations(of: Data(json.utf8), name: "status.schema.json") == "")
    let lines = try DarkroomProcess.run(["status"] + folders.named).output.split(separator: "\n").map(String.init)
    return lines.map { $0.replacing(/, [0-9.]+\/s.*/, with: "") }
  }

  /// Asks for the status until it has some lines.
  private func waitForStatus(_ awaited: String...) throws {
    var lines = try status()
    let limit = Date() + 120
    while !awaited.allSatisfy(lines.contains), Date() < limit { lines = try status() }
    #expect(awaited.allSatisfy(lines.contains), "\(awaited): \(lines)")
  }

  @Test func `wait ends with the newest manifest's end, also when that was rejected before`() throws {
    try folders.drop("job.jsonl", manifest(0..<2))
    let watch = try folders.start("watch", Self.options)
    for _ in 0..<2 { _ = try server.nextRequest() }
    try folders.drop("job.jsonl", "{\"name\": 7}\n")
    let line = try #require(
      try watch.waitForLine(containing: "job: rejected: the job goes on with its earlier manifest; see "))
    let path = try #require(line.firstMatch(of: /see (.*)$/)).1
    let report = try JSONDecoder().decode(Report.self, from: Data(contentsOf: URL(fileURLWithPath: String(path))))
    #expect(report.state == "rejected" && path.contains("/job/history/"))
    // The job goes on.
    let open = try wait(["--timeout", "0"])
    #expect(open.status == 75, "\(open)")
    let waiting = try DarkroomProcess(["wait", "job", "--poll-interval", "0.05"] + folders.named)
    try server.release(2)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    for waited in [try waiting.finish(), try wait()] {
      #expect(waited.status == 65 && waited.output == path + "\n", "\(waited)")
    }
    // Until a later one is accepted. That a run is superseded is no end.
    try folders.drop("job.jsonl", manifest(1..<3))
    for _ in 0..<2 { _ = try server.nextRequest() }
    try server.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    let further = try DarkroomProcess(["wait", "job", "--poll-interval", "0.05"] + folders.named)
    try folders.drop("job.jsonl", manifest(5..<7))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(9)
    for later in [try further.finish(), try wait()] {
      #expect(later.status == 0 && later.output == folders.outbox + "/job/report.json\n", "\(later)")
    }
    try watch.stop()
    #expect(try folders.report("job").entries.map(\.name) == ["n5", "n6"])
    #expect(try folders.history("job").map(\.state).contains("superseded"))
  }

  @Test func `status tells that a run is being replaced, and what waits for others is no download that waits`() throws {
    let after = manifest([7]).replacing("}\n", with: ", \"after\": \"n0\"}\n")
    try folders.drop("job.jsonl", manifest(0..<2) + after)
    let watch = try folders.start("watch", Self.options)
    for _ in 0..<2 { _ = try server.nextRequest() }
    let processors = ProcessInfo.processInfo.activeProcessorCount
    try waitForStatus(
      "job job: 0 of 3, 1 waiting for others",
      "downloads: 2 of 2 running, 0 waiting; filtrations: 0 of \(processors) running, 0 waiting")
    try folders.drop("job.jsonl", manifest(0..<2))
    try waitForStatus("job job: 0 of 3 (replaced)")
    try watch.kill()
  }

  @Test func `status tells what the next start replaces and cancels`() throws {
    try folders.drop("job.jsonl", manifest(0..<2))
    let watch = try folders.start("watch", Self.options)
    for _ in 0..<2 { _ = try server.nextRequest() }
    try waitForStatus("job job: 0 of 2")
    watch.send(SIGKILL)
    _ = try watch.finish()
    try folders.drop("job.jsonl", manifest(0..<3))
    try folders.drop("other.jsonl", manifest(4..<5))
    try waitForStatus("queued: job.jsonl, replaces the manifest of job job when it is planned", "queued: other.jsonl")
    #expect(try DarkroomProcess.run(["cancel", "job", "other"] + folders.named).status == 0)
    try waitForStatus(
      "job job: to be cancelled by the next start, 0 of 2",
      "queued: job.jsonl, replaces the manifest of job job when it is planned, to be cancelled",
      "queued: other.jsonl, to be cancelled")
    #expect(try folders.run(Self.options).status == 1)
    for job in ["job", "other"] { #expect(try folders.report(job).state == "cancelled") }
  }

  @Test func `status tells of a job that is being planned that it is to be cancelled`() throws {
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    let watch = try folders.start("watch", Self.options)
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
    // It takes longer to be planned, and then to be cancelled, than the status takes to be written.
    try folders.drop("job.jsonl", manifest(0..<150_000))
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    #expect(try DarkroomProcess.run(["cancel", "job"] + folders.named).status == 0)
    var lines: [Substring] = []
    func isTold() -> Bool { lines.contains { $0 == "job job: cancelling" || $0.hasSuffix(" (being cancelled)") } }
    let limit = Date() + 120
    while !isTold(), Date() < limit {
      lines = try DarkroomProcess.run(["status"] + folders.named).output.split(separator: "\n")
    }
    #expect(isTold(), "\(lines)")
    watch.send(SIGKILL)
    _ = try watch.finish()
  }
}
