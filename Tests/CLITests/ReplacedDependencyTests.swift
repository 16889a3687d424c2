import Foundation
import TestSupport
import Testing

/// Manifests with `after` and `variants` that are replaced, or whose jobs are cancelled, while they are live.
@Suite(.blocking) struct ReplacedDependencyTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private func line(_ name: String, after: [String] = [], more: String = "") -> String {
    let names = after.map { "\"\($0)\"" }.joined(separator: ",")
    return #"{"name": "\#(name)", "url": "\#(server.url(name))", "after": [\#(names)]\#(more)}"# + "\n"
  }

  private static let options = ["--filters", "none", "--verbose", "--cache-size", "0"]
  private static let variants = #", "variants": [{"name": "x"}, {"name": "y", "format": "webp"}]"#

  private func rest() throws -> [String] {
    try server.note("end")
    var asked: [String] = []
    while asked.last != "/end" { asked.append(try server.nextRequest()) }
    return asked.dropLast()
  }

  @Test func `what waits for something in progress goes over, and starts when that has ended`() throws {
    try folders.drop("job.jsonl", line("a") + line("b", after: ["a"]) + line("gone", after: ["a"]) + line("z"))
    let watch = try folders.start("watch", Self.options)
    #expect(try Set([server.nextRequest(), server.nextRequest()]) == ["/a", "/z"])
    try folders.drop("job.jsonl", line("c", after: ["b"]) + line("b", after: ["a"]) + line("a") + line("z"))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(try rest() == ["/b", "/c"])
    #expect(try folders.report("job").entries.map(\.name) == ["c", "b", "a", "z"])
  }

  @Test func `what has succeeded before counts for what comes after it now`() throws {
    try folders.drop("job.jsonl", line("a") + line("z"))
    let watch = try folders.start("watch", Self.options)
    #expect(try Set([server.nextRequest(), server.nextRequest()]) == ["/a", "/z"])
    try server.release(1)
    let done = try #require(try watch.waitForLine(containing: ": filtered")).contains("job: a") ? "a" : "z"
    let other = done == "a" ? "z" : "a"
    try folders.drop(
      "job.jsonl",
      line("new", after: [done], more: Self.variants) + line("last", after: ["new", other]) + line("a") + line("z"))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    #expect(try server.nextRequest() == "/new")
    try server.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 5 filtered") != nil)
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(try rest() == ["/last"])
    let report = try folders.report("job")
    #expect(report.entries.map(\.index) == [0, 0, 1, 2, 3])
    #expect(report.entries.map(\.variant) == ["x", "y", nil, nil, nil])
  }

  @Test func `a variant that stays keeps its result, one that is changed is made, and another after is another entry`()
    throws
  {
    try folders.drop("job.jsonl", line("v", more: Self.variants) + line("z") + line("w", after: ["z"]))
    let watch = try folders.start("watch", Self.options)
    #expect(try Set([server.nextRequest(), server.nextRequest()]) == ["/v", "/z"])
    try server.release(1)
    _ = try watch.waitForLine(containing: ": filtered")
    let changed = Self.variants.replacing("webp", with: "png")
    try folders.drop("job.jsonl", line("v", more: changed) + line("z") + line("w"))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(
      try folders.report("job").entries.map { $0.output?.file }.prefix(2) == ["images/v.x.jpg", "images/v.y.png"])
  }

  @Test func `of a cancelled job what waits is cancelled, and does not fail`() throws {
    try folders.drop(
      "job.jsonl",
      line("a", more: Self.variants) + line("b", after: ["a"]) + line("c", after: ["b"], more: Self.variants))
    let watch = try folders.start("watch", Self.options)
    #expect(try server.nextRequest() == "/a")
    #expect(try DarkroomProcess.run(["cancel", "job"] + folders.named).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled:") != nil)
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(try folders.report("job").entries.map(\.state) == Array(repeating: "cancelled", count: 5))
    #expect(!folders.exists("job/job.failed.jsonl"))
  }
}
