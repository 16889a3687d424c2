import Foundation
import TestSupport
import Testing

/// `transfers.requests` of reports, beside what a server has counted.
@Suite(.blocking) struct RequestCountTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
  }

  private static let options = [
    "--downloads", "2", "--filters", "none", "--gallery", "off", "--verbose", "--grace", "0",
  ]

  private func lines(_ names: String...) -> String { names.map { server.url($0) + "\n" }.joined() }

  /// Starts a job of which two entries wait for their answers.
  private func start(_ manifest: String, _ text: String) throws -> DarkroomProcess {
    try folders.drop(manifest, text)
    let watch = try folders.start("watch", Self.options)
    for _ in 0..<2 { _ = try server.nextRequest() }
    return watch
  }

  @Test(arguments: ["cancel", "removal"])
  func `requests of downloads that are cancelled count`(how: String) throws {
    let watch = try start("job.txt", lines("a", "b", "c"))
    if how == "cancel" {
      #expect(try folders.ask("cancel", ["job"]).status == 0)
    } else {
      try FileManager.default.removeItem(atPath: folders.inbox + "/job.txt")
    }
    #expect(try watch.waitForLine(containing: "job: cancelled: 0 filtered") != nil)
    #expect(try server.requestsSoFar().count == 0)
    #expect(try folders.report("job").transfers?.requests == 2)
    try watch.stop()
  }

  @Test func `requests of a run whose manifest is replaced count, each in one report`() throws {
    let watch = try start("job.txt", lines("a", "b", "c"))
    try folders.drop("job.txt", lines("a", "d"))
    #expect(try watch.waitForLine(containing: "its manifest was replaced") != nil)
    try server.release(9)
    #expect(try watch.waitForLine(containing: "job: superseded") != nil)
    #expect(try folders.ask("wait", ["job"]).status == 0)
    #expect(try server.requestsSoFar().count == 1)
    #expect(try folders.history("job").map { $0.transfers?.requests } == [2])
    #expect(try folders.report("job").transfers?.requests == 1)
    try watch.stop()
  }

  @Test func `requests of an earlier start that was stopped count, also those that it did not wait for`() throws {
    let watch = try start("job.txt", lines("a", "b", "c"))
    try watch.stop()
    #expect(try server.requestsSoFar().count == 0)
    try server.release(9)
    #expect(try folders.run(Self.options).status == 0)
    #expect(try server.requestsSoFar().count == 3)
    #expect(try folders.report("job").transfers?.requests == 5)
  }

  @Test func `requests for a list count, also when it is cancelled`() throws {
    try folders.drop("job.json", #"{"source": "\#(server.url("list.txt"))"}"#)
    let watch = try folders.start("watch", Self.options)
    #expect(try server.nextRequest() == "/list.txt")
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    #expect(try folders.ask("wait", ["job"]).status == 1)
    #expect(try server.requestsSoFar().count == 0)
    #expect(try folders.report("job").transfers?.requests == 1)
    try watch.stop()
  }
}
