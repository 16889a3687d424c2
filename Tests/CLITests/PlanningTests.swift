import Foundation
import TestSupport
import Testing

/// While a manifest is planned, which takes seconds for a million lines, the program hears and sees.
@Suite(.blocking) struct PlanningTests {
  /// Takes long to plan, and is rejected in its last line.
  private static let manifest =
    (0..<150_000).map { #"{"url":"missing.png","name":"n\#($0)"}"# + "\n" }.joined() + #"{"url":"a","qualty":1}"#

  @Test(arguments: ["run", "watch"])
  func `a signal while a manifest is planned ends the program, and the job is planned again`(command: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.jsonl", Self.manifest)
    let first = try folders.start(command, ["--verbose"])
    #expect(try first.waitForLine(containing: "job: planning job.jsonl") != nil)
    first.send(SIGTERM)
    #expect(try first.finish().status == (command == "run" ? 143 : 0))
    #expect(!folders.exists("job/report.json"), "it was not planned to its end")

    try folders.run().expect(status: 65)
    #expect(try folders.report("job").state == "rejected")
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test(.disabled(if: Sanitizer.isAny, "a sanitizer needs memory of its own"))
  func `memory that reading a large JSON has taken is given back`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("pause.lock", "")
    let watch = try folders.start("watch", ["--verbose", "--file-root", packageRoot + "/Samples"])
    #expect(try watch.waitForLine(containing: "paused: pause.lock") != nil)
    let metadata = "[" + Array(repeating: "0", count: 1000).joined(separator: ",") + "]"
    let entries = (0..<3000).map { #"{"url":"missing.png","name":"n\#($0)","metadata":\#(metadata)}"# }
    try folders.drop("job.json", "[" + entries.joined(separator: ",") + "]")
    #expect(try watch.waitForLine(containing: "job: 3000 entries") != nil)
    let status = try String(contentsOfFile: "/proc/\(watch.processID)/status", encoding: .utf8)
    let kilobytes = ["VmHWM:", "VmRSS:"].map { name in
      status.split(separator: "\n").first { $0.hasPrefix(name) }.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
    #expect(kilobytes[1] > 0 && kilobytes[1] * 2 < kilobytes[0], "\(kilobytes)")
    try watch.stop()
  }

  @Test func `a lock that comes while a manifest is planned holds from its first entry on`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.jsonl", (0..<20_000).map { #"{"url":"missing\#($0).png"}"# + "\n" }.joined())
    let run = try folders.start("run", ["--verbose", "--file-root", packageRoot + "/Samples"])
    #expect(try run.waitForLine(containing: "job: planning job.jsonl") != nil)
    try folders.drop("pause.lock", "lunch")
    #expect(try run.waitForLine(containing: "paused: pause.lock") != nil)
    #expect(try run.waitForLine(containing: "job: 20000 entries") != nil)
    #expect(try folders.contents("job/entries.jsonl").isEmpty)
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    #expect(try folders.contents("job/entries.jsonl").isEmpty)
  }
}
