import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct RestartTests {
  /// The signal comes as soon as the program has the outbox.
  @Test(arguments: 0..<10)
  func `a signal while the program starts is not lost`(_: Int) throws {
    let folders = try DarkroomFolders()
    let run = try DarkroomProcess.run(
      script: """
        \(folders.line("watch")) & while [ ! -e '\(folders.outbox)/.darkroom/instance' ]; do :; done; kill $!; wait $!
        """, in: folders.folder)
    #expect(run.status == 0, "\(run.error)")
  }

  @Test(arguments: [1, 40, 150, 299])
  func `after a kill in the middle of 300 entries a restart does the rest and nothing twice`(ended: Int) throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<300).map { server.url("chelsea-small.png?\($0)") + "\n" }.joined())
    let first = try folders.start("run", ["--verbose", "--filters", "none"])
    for _ in 0..<ended { _ = try first.waitForLine(containing: ": filtered") }
    try first.kill()
    let doneBefore = try folders.objects("job/entries.jsonl")
    #expect(doneBefore.count >= ended)
    let requestedBefore = try server.accessLog().count

    try folders.run(["--filters", "none"]).expect(status: 0)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 300, filtered: 300))
    #expect(report.entries.map(\.index) == Array(0..<300))
    let requestedAgain = Set(try server.accessLog().dropFirst(requestedBefore).compactMap(query))
    for row in doneBefore { #expect(!requestedAgain.contains(try #require(row["index"] as? Int))) }
    #expect(try folders.staged().isEmpty)
    #expect(!folders.exists("job/history"), "it is one run, with one report")
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.objects("job/entries.jsonl").count == 300)
    for output in report.entries.compactMap(\.output) {
      #expect(try folders.contents("job/" + output.file).count == output.bytes)
      #expect(try MessageDigest.hexDigest(ofFile: folders.outbox + "/job/" + output.file) == output.sha256)
    }
  }

  @Test func `the summary after a restart has the failures of the earlier process, too`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", ["gone?404", "a", "b"].map { server.url($0) + "\n" }.joined())
    let first = try folders.start("run", ["--downloads", "1", "--filters", "none", "--verbose", "--grace", "0"])
    _ = try server.nextRequest()
    try server.release(1)
    #expect(try first.waitForLine(containing: "http-status") != nil)
    _ = try server.nextRequest()
    first.send(SIGTERM)
    #expect(try first.finish().status == 143)
    try server.release(5)
    let second = try folders.run(["--filters", "none"]).expect(status: 1)
    #expect(second.error.contains("job: partial: 2 filtered, 1 failed"), "\(second.error)")
    #expect(
      second.error.contains("remedy for http-status (404)")
        || second.error.contains("1 failed with http-status (404): job: gone"), "\(second.error)")
    #expect(!second.error.contains("darkroom retry"), "\(second.error)")
  }

  private func query(_ logLine: String) -> Int? {
    logLine.firstMatch(of: /\?(\d+) HTTP/).flatMap { Int($0.1) }
  }

  @Test(arguments: [(SIGTERM, Int32(143)), (SIGINT, Int32(130))])
  func `a signal lets what runs finish and leaves the rest for the next start`(signal: Int32, status: Int32) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<5).map { server.url("\($0)") + "\n" }.joined())
    let run = try folders.start("run", ["--downloads", "2", "--filters", "none"])
    let running = Set([try server.nextRequest(), try server.nextRequest()])
    run.send(signal)
    #expect(try run.waitForLine(containing: "stopping") != nil)
    try server.release(5)
    #expect(try run.finish().status == status)
    #expect(!folders.exists("job/report.json"))
    #expect(
      Set(try folders.objects("job/entries.jsonl").compactMap { $0["name"] as? String }.map { "/" + $0 }) == running)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").counts.filtered == 5)
  }

  @Test func `a second signal stops at once, and nothing is lost`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", (0..<3).map { server.url("\($0)") + "\n" }.joined())
    let run = try folders.start("run", ["--filters", "none"])
    _ = try server.nextRequest()
    run.send(SIGTERM)
    #expect(try run.waitForLine(containing: "stopping") != nil)
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    try server.release(100)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").counts.filtered == 3)
  }
}

extension MessageDigest {
  /// The SHA-256 of a file.
  fileprivate static func hexDigest(ofFile path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    return try hexDigest(ofDescriptor: file.fileDescriptor)
  }
}
