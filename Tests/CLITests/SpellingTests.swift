import Foundation
import TestSupport
import Testing

/// Names of jobs are bytes: the two spellings of ü are the names of two jobs, and what is done to one leaves the other alone.
@Suite(.blocking) struct SpellingTests {
  private static let spellings = [("\u{fc}", "u\u{308}"), ("u\u{308}", "\u{fc}")]

  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// How the last run of a job ended.
  private func state(_ job: String) throws -> String { try folders.report(job).state }

  @Test(arguments: spellings)
  func `cancelling one job does not cancel the other`(cancelled: String, other: String) throws {
    for job in [cancelled, other] { try folders.drop("\(job).txt", "coffee.jpg\n") }
    try folders.ask("cancel", [cancelled]).expect(status: 0)
    try folders.run(["--filters", "none"]).expect(status: 1)
    #expect(try state(cancelled) == "cancelled")
    #expect(try state(other) == "succeeded")
  }

  @Test(arguments: spellings)
  func `the manifest of one job waits for the next start, and is cancelled, beside the other that is live`(
    live: String, other: String
  ) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("\(live).txt", server.url("a"))
    let run = try folders.start("run", ["--filters", "none"])
    _ = try server.nextRequest()
    try folders.drop("\(other).txt", server.url("b"))
    let status = try eventually({ try folders.status() }, is: { ($0["queued"] as? [String])?.isEmpty == false })
    #expect((status["queued"] as? [String])?.first.map { Array($0.utf8) } == Array("\(other).txt".utf8))
    #expect(status["queued_behind"] == nil)
    try folders.ask("cancel", [other]).expect(status: 0)
    try server.release(1)
    try run.finish().expect(status: 0)
    try folders.ask("wait", ["--timeout", "60", live]).expect(status: 0)
    try folders.run(["--filters", "none"]).expect(status: 1)
    #expect(try state(live) == "succeeded" && state(other) == "cancelled")
  }

  @Test(arguments: spellings)
  func `waiting for one job, or trying it again, does not concern the other`(ended: String, other: String) throws {
    try folders.drop("\(ended).txt", "coffee.jpg\n")
    try folders.run(["--filters", "none"]).expect(status: 0)
    try folders.drop("\(other).txt", "coffee.jpg\n")
    try folders.ask("wait", ["--timeout", "0", ended]).expect(status: 0)
    try folders.ask("wait", ["--timeout", "0", other]).expect(status: 75)
    try folders.ask("retry", [ended]).expect(status: 0)
    #expect(try folders.inboxNames().count == 2)
  }
}
