import Foundation
import TestSupport
import Testing

/// `--retry-for` for the source of a manifest, also across restarts.
@Suite(.blocking) struct DeferredSourceTests {
  private let folders: DarkroomFolders

  /// Has the list.
  private let server: FlakyServer

  /// Has the picture that is listed.
  private let pictures: Nginx

  init() throws {
    folders = try DarkroomFolders()
    pictures = try Nginx(serving: packageRoot + "/Samples")
    let list = folders.folder.file("list.txt")
    try Data("\(pictures.url("coffee.jpg"))\n".utf8).write(to: URL(fileURLWithPath: list))
    server = try FlakyServer(serving: list)
  }

  private static let options = ["--retry-for", "1h", "--filters", "none", "--verbose"]

  /// Drops a manifest whose source fails so often.
  private func drop(failures: Int, defaults: String = "{}") throws {
    let faults = Array(repeating: "503", count: failures).joined(separator: ",")
    let source = server.url("list.txt?" + faults)
    try folders.drop("job.json", #"{"source": "\#(source)", "defaults": \#(defaults)}"#)
  }

  /// Starts, waits until the source is deferred after so many tries and the ledger says so, and kills the program.
  private func runUntilDeferred(after tries: Int) throws {
    let watch = try folders.start("watch", Self.options)
    #expect(try watch.waitForLine(containing: "source: deferred after try \(tries), the next in") != nil)
    // Its rows are committed after the deferral.
    try folders.drop("other.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "other: succeeded") != nil)
    try watch.kill()
  }

  /// What comes after is as if the clock had been moved.
  private func alter(_ change: String) throws { try AlteredLedger.alter(folders, "UPDATE deferred SET " + change) }

  /// How often the list was asked for.
  private func requests() throws -> Int {
    try DarkroomProcess.run(script: "curl -s '\(server.url("end"))'", in: folders.folder).expect(status: 0)
    var count = 0
    while try server.nextRequest().path != "/end" { count += 1 }
    return count
  }

  private func status() throws -> String { try folders.ask("status").output }

  @Test func `a source that is deferred waits on after a restart, and is downloaded when it is due`() throws {
    try drop(failures: 2)
    try runUntilDeferred(after: 1)
    #expect(try status().contains("1 deferred until 20"))
    let second = try folders.start("watch", Self.options)
    #expect(try second.waitForLine(containing: "its entries are listed by") != nil)
    try folders.drop("more.txt", "coffee.jpg\n")
    #expect(try second.waitForLine(containing: "more: succeeded") != nil)
    try second.stop()
    #expect(try requests() == 1, "it is not due")
    try alter("due_ms = due_ms - 3600000")
    try runUntilDeferred(after: 2)
    try alter("due_ms = due_ms - 3600000")
    try folders.run(Self.options).expect(status: 0)
    #expect(try requests() == 2)
    let report = try folders.validReport("job")
    #expect(report.state == "succeeded" && report.entries.map(\.name) == ["coffee"])
  }

  @Test func `a source that is deferred is tried anew when its manifest is replaced by one with the same source`()
    throws
  {
    try drop(failures: 1)
    let watch = try folders.start("watch", Self.options)
    #expect(try watch.waitForLine(containing: "source: deferred after try 1, the next in") != nil)
    try drop(failures: 1, defaults: #"{"quality": 50}"#)
    #expect(try watch.waitForLine(containing: "job: succeeded: 1 filtered") != nil)
    try watch.stop()
    #expect(try requests() == 2)
    #expect(!folders.exists("job/history"))
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test func `when the time is up, counted from the first try, the job is rejected with what the last one came to`()
    throws
  {
    try drop(failures: 99)
    try runUntilDeferred(after: 1)
    try alter("due_ms = due_ms - 3600000, first_ms = first_ms - 3500000")
    // There is some time left after the first one.
    try runUntilDeferred(after: 2)
    try alter("due_ms = due_ms - 3600000, first_ms = first_ms - 100000")
    try folders.run(Self.options).expect(status: 65)
    #expect(try requests() == 3)
    let report = try folders.validReport("job")
    #expect(report.state == "rejected" && report.entries.isEmpty)
    let json = try JSONSerialization.jsonObject(with: folders.contents("job/report.json")) as? [String: Any]
    let error = try #require((json?["errors"] as? [[String: Any]])?.first)
    #expect(error["code"] as? String == "source-failed" && error["where"] as? String == "source")
    #expect((error["message"] as? String)?.hasSuffix("after 3 tries") == true, "\(error)")
    let failure = try #require(error["error"] as? [String: Any])
    #expect(failure["code"] as? String == "http-status" && failure["http_status"] as? Int == 503)
    #expect(failure["retryable"] as? Bool == true)
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/jobs") == [])
  }
}
