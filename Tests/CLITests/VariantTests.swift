import Foundation
import TestSupport
import Testing

/// `variants`: several results of one download.
@Suite(.blocking) struct VariantTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private static let three = """
    "variants": [{"name": "a", "filters": "resize(20 20)"}, {"name": "b", "filters": "none", "format": "webp"}, \
    {"name": "c", "filters": "none"}]
    """

  @Test(arguments: [
    ([], ""), (["--cache-size", "0"], ""), (["--per-host", "1", "--downloads", "1"], "no-store"),
    (["--cache-size", "0", "--downloads", "2"], "no-store"),
  ])
  func `a source is asked for once, and each variant has its result and its row`(
    options: [String], control: String
  ) throws {
    let server = try Nginx(
      serving: packageRoot + "/Samples", directives: control.isEmpty ? "" : "add_header Cache-Control \(control);")
    let lines = (0..<8).map {
      #"{"url": "\#(server.url("chelsea-small.png?\($0)"))", "name": "n\#($0)", \#(Self.three)}"#
    }
    try folders.drop("job.jsonl", lines.joined(separator: "\n"))
    try folders.run(options).expect(status: 0)
    #expect(try server.accessLog().count == 8)
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 24, filtered: 24))
    #expect(report.entries.map(\.name) == (0..<24).map { "n\($0 / 3)" })
    #expect(report.entries.map(\.variant) == (0..<24).map { ["a", "b", "c"][$0 % 3] })
    #expect(report.entries.map(\.index) == (0..<24).map { $0 / 3 })
    #expect(
      report.entries.map { $0.output?.file }
        == (0..<24).map { "images/n\($0 / 3)." + ["a.png", "b.webp", "c.png"][$0 % 3] })
    for output in report.entries.compactMap(\.output) {
      #expect(try folders.contents("job/" + output.file).count == output.bytes)
    }
    #expect(report.bytes.downloaded == 8 * (report.entries[0].source?.bytes ?? 0))
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  @Test func `a variant fails by itself, is listed alone, and is retried alone`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let tooWide = #"{"name": "w", "filters": "resize(exact 20000 10 enlarge)", "format": "webp"}"#
    try folders.drop(
      "job.json",
      #"{"x": {"url": "\#(server.url("chelsea-small.png"))", "variants": [{"name": "a"}, \#(tooWide), {"name": "z"}]}, "y": "\#(server.url("coffee.jpg"))"}"#
    )
    #expect(try folders.run().status == 1)
    let report = try folders.report("job")
    #expect(report.entries.map(\.state) == ["filtered", "failed", "filtered", "filtered"])
    #expect(report.entries[1].error?.stage == "filter")
    let list = try folders.objects("job/job.failed.jsonl")
    #expect(list.count == 1 && list[0]["name"] as? String == "x" && list[0]["filters"] == nil)
    #expect((list[0]["variants"] as? [[String: Any]])?.map { $0["name"] as? String } == ["w"])
    try folders.checkOutbox()
    // Wide enough for the format.
    let mended = String(decoding: try folders.contents("job/job.failed.jsonl"), as: UTF8.self).replacing(
      "20000", with: "200")
    try folders.drop("rest.jsonl", mended)
    #expect(try folders.run().status == 0)
    #expect(try folders.report("rest").entries.map { $0.output?.file } == ["images/x.w.webp"])
    #expect(try server.accessLog().count <= 3)
  }

  @Test func `what is there is reused by itself, and a changed variant is made without a download`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    func manifest(_ filters: String) -> String {
      #"{"x": {"url": "\#(server.url("chelsea-small.png"))", "variants": [{"name": "a"}, {"name": "b", "filters": "\#(filters)"}, {"name": "c"}]}}"#
    }
    try folders.drop("job.json", manifest("invert()"))
    #expect(try folders.run().status == 0)
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/x.c.png")
    try folders.drop("job.json", manifest("grayscale()"))
    #expect(try folders.run().status == 0)
    let report = try folders.report("job")
    #expect(report.entries.map { $0.reused == true } == [true, false, false])
    #expect(try server.accessLog().map { $0.contains(" 304 ") } == [false, true])
    #expect(folders.exists("job/images/x.c.png"))
  }

  @Test func `a download that fails fails all variants, and one that is tried again serves all`() throws {
    let server = try FlakyServer()
    try folders.drop(
      "job.jsonl",
      #"{"url": "\#(server.url("a?404"))", "name": "a", \#(Self.three)}"# + "\n"
        + #"{"url": "\#(server.url("b?503"))", "name": "b", \#(Self.three)}"#)
    #expect(try folders.run(["--retries", "2", "--cache-size", "0"]).status == 1)
    let report = try folders.report("job")
    #expect(
      report.entries.map(\.state) == Array(repeating: "failed", count: 3) + Array(repeating: "filtered", count: 3))
    #expect(report.entries.prefix(3).map { $0.error?.http_status } == [404, 404, 404])
    #expect(report.transfers?.requests == 3)
    let list = try folders.objects("job/job.failed.jsonl")
    #expect(list.count == 1 && (list[0]["variants"] as? [Any])?.count == 3)
    #expect(try folders.objects("job/entries.jsonl").count == 6)
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  @Test func `what comes after an entry waits for all of its variants`() throws {
    try folders.drop(
      "job.jsonl",
      #"{"url": "coffee.jpg", "name": "last", "after": ["x"], \#(Self.three)}"# + "\n"
        + #"{"url": "rocket.jpg", "name": "x", \#(Self.three)}"#)
    #expect(try folders.run().status == 0)
    #expect(try folders.objects("job/entries.jsonl").prefix(3).map { $0["name"] as? String } == ["x", "x", "x"])
    try folders.drop(
      "bad.jsonl",
      #"{"url": "coffee.jpg", "name": "last", "after": ["x"], \#(Self.three)}"# + "\n"
        + #"{"url": "missing.jpg", "name": "x", \#(Self.three)}"#)
    #expect(try folders.run().status == 1)
    let codes = try folders.report("bad").entries.map { $0.error?.code }
    #expect(codes == Array(repeating: "dependency-failed", count: 3) + Array(repeating: "file-not-found", count: 3))
    try folders.checkOutbox()
  }

  /// The positions of the entries that the journal has inside a filtration.
  private func filtered() -> Set<Int> {
    let journal = Array((try? folders.contents(".darkroom/filtrations")) ?? Data())
    // Of an entry that has left its slot only the first byte is cleared. The first slot names the process.
    let slots = stride(from: 0, to: journal.count, by: 128).dropFirst().map {
      journal[$0...].prefix(128).prefix { $0 != 0 }
    }
    return Set(
      slots.compactMap { String(decoding: $0, as: UTF8.self).split(separator: " ").last.flatMap { Int($0) } })
  }

  @Test(.disabled(if: Sanitizer.isThread, "what takes seconds takes minutes"))
  func `variants are filtered at the same time, and the one that is done when the job is cancelled keeps its row`()
    throws
  {
    let server = try GatedServer(serving: packageRoot + "/Samples/hubble-deep-field.jpg")
    // Takes minutes, or until it is cancelled.
    let slow = "resize(exact 4000 4000 enlarge)" + String(repeating: " blur(5px)", count: 60)
    func manifest(_ second: String, _ third: String) -> String {
      let variants = [("a", "none"), ("b", second), ("c", third)].map { #"{"name": "\#($0)", "filters": "\#($1)"}"# }
      return #"{"x": {"url": "\#(server.url("x"))", "variants": [\#(variants.joined(separator: ", "))]}}"#
    }
    // A place for each: it is not certain which begins first.
    let options = ["--filtrations", "3", "--cache-size", "0", "--verbose"]
    try folders.drop("job.json", manifest(slow, slow + " invert()"))
    let watch = try folders.start("watch", options)
    #expect(try server.nextRequest() == "/x")
    try server.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    let limit = ContinuousClock.now + .seconds(60)
    while filtered() != [1, 2], ContinuousClock.now < limit { usleep(1000) }
    #expect(filtered() == [1, 2])
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled: 1 filtered") != nil)
    try watch.stop()
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 3, filtered: 1, cancelled: 2))
    #expect(report.entries.map(\.variant) == ["a", "b", "c"])
    #expect(report.entries.map(\.state) == ["filtered", "cancelled", "cancelled"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/images") == ["x.a.jpg"])
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
    // What is done is reused by the next run.
    try folders.drop("job.json", manifest("invert()", "grayscale()"))
    try server.release(1)
    #expect(try folders.run(options).status == 0)
    #expect(try folders.report("job").entries.map { $0.reused == true } == [true, false, false])
    #expect(try server.requestsSoFar() == ["/x"])
  }

  private static let points = [
    ("fsync", [2, 4, 6, 9, 12, 15]), ("fdatasync", [3, 6, 9, 12, 15]), ("renameat2", [1, 3, 5]),
    ("unlink", [2, 6]), ("unlinkat", [1, 3, 5]), ("linkat", [1, 2, 3, 4]),
  ].flatMap { call, numbers in numbers.map { (call, $0) } }

  @Test(arguments: points.sample(4))
  func `killed anywhere, every variant has one row and its result`(call: String, number: Int) throws {
    let urls = ["coffee.jpg", "missing.jpg", "rocket.jpg"]
    try folders.drop(
      "job.jsonl",
      urls.enumerated().map { #"{"url": "\#($1)", "name": "n\#($0)", \#(Self.three)}"# }.joined(separator: "\n"))
    let killed = try folders.run(injecting: "\(call):signal=KILL:when=\(number)")
    let again = try folders.run()
    #expect(again.status == 0 || again.status == 1, "\(killed.error)\(again.error)")
    let report = try folders.report("job")
    #expect(report.entries.map(\.variant) == (0..<9).map { ["a", "b", "c"][$0 % 3] })
    #expect(report.entries.map(\.state) == (0..<9).map { $0 / 3 == 1 ? "failed" : "filtered" })
    #expect(try folders.objects("job/entries.jsonl").count == 9)
    #expect(try folders.staged().isEmpty)
  }

  @Test func `check shows each variant`() throws {
    try folders.drop("job.json", #"{"x": {"url": "http://h.example/a", \#(Self.three)}}"#)
    let check = try DarkroomCommand.run(["check", folders.inbox + "/job.json"]).output
    #expect(
      check.contains("images/x.a.*") && check.contains("images/x.b.webp") && check.contains("3 entries"), "\(check)")
    let json = try DarkroomCommand.run(["check", "--json", folders.inbox + "/job.json"]).output.split(separator: "\n")
    #expect(json.dropFirst().allSatisfy { $0.contains(#""name":"x","variant":""#) && $0.contains(#""index":0"#) })
  }

  @Test func `a mirror serves all variants, and a deferred entry keeps them waiting`() throws {
    let server = try FlakyServer()
    let mirrors = "[\"\(server.url("gone?404,404"))\", \"\(server.url("there"))\"]"
    try folders.drop(
      "job.jsonl",
      #"{"url": \#(mirrors), "name": "m", \#(Self.three)}"# + "\n"
        + #"{"url": "\#(server.url("down?503"))", "name": "d", \#(Self.three)}"#)
    try folders.run(["--retry-for", "10", "--cache-size", "0"]).expect(status: 0)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 6, filtered: 6))
    #expect(report.transfers?.requests == 4)
    #expect(report.entries.prefix(3).allSatisfy { $0.url.hasSuffix("/there") })
    #expect(try folders.staged().isEmpty)
  }
}
