import Foundation
import TestSupport
import Testing

/// `--max-duration`: what does not end in time is left for the next start.
@Suite(.blocking) struct MaxDurationTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  @Test func `when the time is over what runs finishes, the rest is done by the next start, and nothing twice`() throws
  {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.txt", (0..<5).map { server.url("\($0)") + "\n" }.joined())
    let first = try folders.start("run", ["--downloads", "2", "--filters", "none", "--max-duration", "6s"])
    var requests = [try server.nextRequest(), try server.nextRequest()]
    #expect(try first.waitForLine(containing: "the time of --max-duration is over") != nil)
    try server.release(5)
    let finished = try first.finish().expect(status: 75)
    #expect(finished.output == "")
    #expect(!folders.exists("job/report.json"))
    #expect(try folders.inboxNames() == ["job.txt"])
    #expect(try folders.contents("job/entries.jsonl").count { $0 == UInt8(ascii: "\n") } == 2)

    try folders.run(["--filters", "none", "--max-duration", "1h"]).expect(status: 0)
    requests += try (0..<3).map { _ in try server.nextRequest() }
    #expect(try server.requestsSoFar() == [], "nothing was asked for twice")
    #expect(requests.sorted() == (0..<5).map { "/\($0)" })
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 5, filtered: 5))
    #expect(report.entries.map(\.index) == Array(0..<5))
    #expect(report.entries.allSatisfy { $0.attempts == 1 })
    #expect(!folders.exists("job/history"), "it is one run, with one report")
  }

  @Test func `a job whose last entries end after the time gets its report`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.txt", server.url("0") + "\n" + server.url("1") + "\n")
    let run = try folders.start("run", ["--filters", "none", "--max-duration", "6"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    #expect(try run.waitForLine(containing: "the time of --max-duration is over") != nil)
    try server.release(2)
    try run.finish().expect(status: 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
  }

  @Test func `time that the queues are suspended counts`() throws {
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try folders.run(["--max-duration", "0.5", "--json"]).expect(status: 75)
    #expect(run.output.contains(#""event":"stopping""#) && run.output.contains(#""why":"max-duration""#))
    #expect(try JSONSchema.violations(of: Data(run.output.utf8), name: "events.schema.json") == "")
    try folders.unlock()
    #expect(try folders.run().status == 0)
  }
}
