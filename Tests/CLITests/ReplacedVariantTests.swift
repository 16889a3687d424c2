import Foundation
import TestSupport
import Testing

/// Variants that wait for a download which goes on in a run that was replaced: in the new run, too, it is one download.
@Suite(.blocking) struct ReplacedVariantTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
  }

  private static let variants = (1..<4).map { #", {"name": "v\#($0)", "filters": "sepia(0.\#($0))"}"# }.joined()

  private func entry(_ path: String, first: String = "none") -> String {
    let variants = #""variants": [{"name": "v0", "filters": "\#(first)"}\#(Self.variants)]"#
    return #"{"url": "\#(server.url(path))", "name": "x", \#(variants)}"#
  }

  /// Has the manifest of a job with an entry of four variants replaced while that is being downloaded.
  private func replace(_ entry: String, times: Int, _ options: [String]) throws -> DarkroomProcess {
    try folders.drop("job.jsonl", entry)
    let watch = try folders.start("watch", ["--cache-size", "0", "--verbose"] + options)
    #expect(try server.nextRequest().hasPrefix("/x"))
    for number in 0..<times {
      try folders.drop("job.jsonl", #"{"url": "\#(server.url("y\(number)"))"}"# + "\n" + entry)
      #expect(try watch.waitForLine(containing: "job: its manifest was replaced; 4 entries that are") != nil)
    }
    return watch
  }

  /// The requests for the entry since the last call.
  private func requests() throws -> [String] {
    try server.note("end")
    var requests: [String] = []
    while requests.last != "/end" { requests.append(try server.nextRequest()) }
    return requests.filter { $0.hasPrefix("/x") }
  }

  private func stop(_ watch: DarkroomProcess) throws {
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(try folders.staged().isEmpty)
    let check = try DarkroomProcess.run(
      script: "'\(TestPython.interpreter)' '\(packageRoot)/script/check-outbox' outbox", in: folders.folder)
    #expect(check.status == 0, "\(check.output)")
  }

  @Test(arguments: [1, 6], [1, 2])
  func `when their download is to be tried again, it is so once`(perHost: Int, times: Int) throws {
    let watch = try replace(entry("x?once=503"), times: times, ["--per-host", "\(perHost)", "--retries", "3"])
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: succeeded: 5 filtered") != nil)
    #expect(try requests() == ["/x?once=503"])
    let rows = try folders.report("job").entries
    #expect(rows.map(\.index) == [0, 1, 1, 1, 1])
    #expect(rows.map(\.coalesced) == [nil, nil, true, true, true])
    #expect(rows[1].attempts == 2)
    try stop(watch)
  }

  @Test(arguments: [1, 2])
  func `when their download has failed for good they fail with it, and nothing is asked for`(times: Int) throws {
    let watch = try replace(entry("x?404"), times: times, ["--per-host", "1", "--retries", "3"])
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: partial") != nil)
    #expect(try requests().isEmpty)
    let rows = try folders.report("job").entries
    #expect(rows.map(\.state) == ["filtered", "failed", "failed", "failed", "failed"])
    #expect(rows.dropFirst().allSatisfy { $0.error?.http_status == 404 && $0.attempts == 1 })
    try stop(watch)
  }

  @Test func `when their download has not begun in the run that was replaced, it is one in the new one`() throws {
    let others = (0..<2).map { #"{"url": "\#(server.url("p\($0)"))"}"# + "\n" }.joined()
    try folders.drop("job.jsonl", others + entry("x"))
    let watch = try folders.start("watch", ["--cache-size", "0", "--verbose", "--downloads", "2", "--per-host", "6"])
    #expect(Set(try (0..<2).map { _ in try server.nextRequest() }) == ["/p0", "/p1"])
    try folders.drop("job.jsonl", others + entry("x") + "\n" + #"{"url": "\#(server.url("y"))"}"#)
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced; 6 entries that are") != nil)
    let rejected = (0..<30_000).map { "\"http://127.0.0.1/\($0)\"\n" }.joined() + "[]\n"
    try folders.drop("job.jsonl", rejected)
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    // It makes room while it is not known whether the entry is wanted.
    try server.release(1)
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    #expect(try server.nextRequest() == "/x")
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: succeeded: 7 filtered") != nil)
    #expect(try requests().isEmpty)
    #expect(try folders.report("job").entries.map(\.coalesced) == [nil, nil, nil, true, true, true, nil])
    try stop(watch)
  }

  @Test func `when only the first cannot be made the others are, from its download`() throws {
    let tooWide = entry("x", first: "resize(exact 20000 10 enlarge)").replacingOccurrences(
      of: #""v0", "#, with: #""v0", "format": "webp", "#)
    let watch = try replace(tooWide, times: 1, ["--per-host", "1"])
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: partial") != nil)
    #expect(try requests().isEmpty)
    let rows = try folders.report("job").entries
    #expect(rows.map(\.state) == ["filtered", "failed", "filtered", "filtered", "filtered"])
    try stop(watch)
  }
}
