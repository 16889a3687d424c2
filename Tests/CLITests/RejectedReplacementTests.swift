import Foundation
import TestSupport
import Testing

/// A replacement of a live job's manifest that is rejected: who waits for the job, reads the log or asks for the status is told.
@Suite(.blocking) struct RejectedReplacementTests {
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
    // Until a later one is accepted.
    try server.release(2)
    try folders.drop("job.jsonl", manifest(1..<3))
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    let later = try wait()
    #expect(later.status == 0 && later.output == folders.outbox + "/job/report.json\n", "\(later)")
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
  }
}
