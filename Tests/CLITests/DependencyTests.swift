import Foundation
import TestSupport
import Testing

/// `after`: entries that wait until others have succeeded.
@Suite(.blocking) struct DependencyTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// A manifest of entries, each with its name, its URL and the names that it comes after.
  private func manifest(_ entries: [(name: String, url: String, after: [String])]) throws -> Data {
    let lines = try entries.map { entry in
      try JSONSerialization.data(withJSONObject: ["name": entry.name, "url": entry.url, "after": entry.after])
    }
    return Data(lines.joined(separator: [0x0a]))
  }

  @Test func `an entry is asked for when what it comes after is in the outbox`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop(
      "job.jsonl",
      manifest([("z", server.url("z"), ["a"]), ("a", server.url("a"), []), ("c", server.url("c"), [])]))
    let run = try folders.start("run", ["--filters", "none"])
    #expect(try Set([server.nextRequest(), server.nextRequest()]) == ["/a", "/c"])
    try server.release(2)
    #expect(try server.nextRequest() == "/z")
    #expect(folders.exists("job/images/a.jpg"))
    try server.release(1)
    try run.finish().expect(status: 0)
    #expect(try folders.report("job").entries.map(\.state) == ["filtered", "filtered", "filtered"])
    #expect(try folders.objects("job/entries.jsonl").last?["name"] as? String == "z")
  }

  /// A folder with a sample as `good.jpg`, and the options to read it.
  private func root() throws -> (path: String, options: [String]) {
    let root = folders.folder.file("root")
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: packageRoot + "/Samples/coffee.jpg", toPath: root + "/good.jpg")
    return (root, ["--file-root", root, "--filters", "none"])
  }

  @Test func `a failure fails what comes after it, and a retry does what is open`() throws {
    let (root, options) = try root()
    let entries = [
      ("d", "good.jpg", ["b", "e"]), ("a", "missing.jpg", []), ("b", "good.jpg", ["a", "e"]), ("c", "good.jpg", ["b"]),
      ("e", "good.jpg", []), ("f", "good.jpg", ["e"]),
    ]
    try folders.drop("job.jsonl", manifest(entries))
    #expect(try folders.run(options).status == 1)
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 6, filtered: 2, failed: 4))
    let failed = [
      "d": "\"b\" must succeed first, and did not, because of \"a\"", "b": "\"a\" must succeed first, and did not",
      "c": "\"b\" must succeed first, and did not, because of \"a\"",
    ]
    for row in report.entries {
      guard let message = failed[row.name] else { continue }
      #expect(row.error?.stage == "plan" && row.error?.code == "dependency-failed" && row.error?.retryable == false)
      #expect(row.error?.message == message && row.attempts == 0 && row.output == nil)
    }
    #expect(report.entries.map(\.error?.code).filter { $0 == "file-not-found" }.count == 1)
    let list = try folders.objects("job/job.failed.jsonl")
    #expect(list.map { $0["name"] as? String } == ["d", "a", "b", "c"])
    #expect(list.map { $0["after"] as? [String] } == [["b"], nil, ["a"], ["b"]])

    try FileManager.default.copyItem(atPath: root + "/good.jpg", toPath: root + "/missing.jpg")
    try folders.drop("rest.jsonl", folders.contents("job/job.failed.jsonl"))
    #expect(try folders.run(options).status == 0)
    #expect(try folders.report("rest").counts == Report.Counts(total: 4, filtered: 4))
    #expect(try folders.ask("retry", ["job"]).status == 0)
    #expect(try folders.run(options).status == 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 6, filtered: 6, reused: 2))
  }

  @Test func `of a cancelled job the list of failures has what a failed entry still has to come after`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let entries = [
      ("c", "coffee.jpg", ["a", "m", "b"]), ("m", "coffee.jpg", ["d"]), ("a", "missing.jpg", ["b"]),
      ("b", "coffee.jpg", []), ("e", "coffee.jpg", ["d"]),
    ]
    let open = #"{"name": "d", "url": "\#(server.url("d"))", "variants": [{"name": "s"}, {"name": "t"}]}"#
    try folders.drop("job.jsonl", manifest(entries) + Data("\n\(open)\n".utf8))
    let watch = try folders.start("watch", ["--filters", "none", "--verbose"])
    #expect(try server.nextRequest() == "/d")
    #expect(try watch.waitForLine(containing: "c: dependency-failed") != nil)
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled: ") != nil)
    let list = try folders.objects("job/job.failed.jsonl")
    #expect(list.map { $0["name"] as? String } == ["c", "m", "a", "d"], "entry e can wait for the job's next run")
    #expect(list.map { $0["after"] as? [String] } == [["m", "a"], ["d"], nil, nil])
    let codes = list.map { ($0["_error"] as? [String: Any])?["code"] as? String }
    #expect(codes == ["dependency-failed", nil, "file-not-found", nil])
    #expect((list.last?["variants"] as? [[String: Any]])?.map { $0["name"] as? String } == ["s", "t"])
    let check = try DarkroomCommand.run(["check", folders.outbox + "/job/job.failed.jsonl"])
    #expect(check.status == 0, "\(check.output)")
    try watch.stop()
    try folders.checkOutbox()
  }

  @Test func `a chain of a thousand is done in its order, and a job beside it is not kept waiting`() throws {
    let count = Sanitizer.isAny ? 300 : 1000
    let (root, options) = try root()
    // Of one pixel.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="
    try #require(Data(base64Encoded: png)).write(to: URL(fileURLWithPath: root + "/dot.png"))
    try folders.drop(
      "chain.jsonl", manifest((0..<count).map { ("n\($0)", "dot.png", $0 == 0 ? [] : ["n\($0 - 1)"]) }.reversed()))
    try folders.drop("other.txt", String(repeating: "dot.png\n", count: 100))
    let run = try folders.run(options + ["--json"]).expect(status: 0)
    let events = run.output.split(separator: "\n")
    let end = try #require(events.firstIndex { $0.contains(#""event":"job-ended""#) && $0.contains(#""job":"other""#) })
    let before = events[..<end].count { $0.contains(#""event":"entry-ended""#) && $0.contains(#""job":"chain""#) }
    // Jobs take turns: of the chain no more has been done by then than of the other.
    #expect(before < count / 2, "\(before)")
    #expect(try folders.report("other").counts == Report.Counts(total: 100, filtered: 100))
    #expect(try folders.report("chain").counts == Report.Counts(total: count, filtered: count))
    #expect(try folders.objects("chain/entries.jsonl").map { $0["name"] as? String } == (0..<count).map { "n\($0)" })
    #expect(try folders.staged().isEmpty)
  }

  @Test func `what others come after may be deferred, and they wait for it`() throws {
    let server = try FlakyServer()
    try folders.drop("job.jsonl", manifest([("b", server.url("b"), ["a"]), ("a", server.url("a?503"), [])]))
    try folders.run(["--filters", "none", "--retry-for", "10"]).expect(status: 0)
    #expect(try (0..<3).map { _ in try server.nextRequest().path } == ["/a", "/a", "/b"])
  }

  @Test func `after a kill a chain goes on where it was`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop(
      "job.jsonl",
      manifest(
        (0..<4).map {
          ("n\($0)", server.url("\($0)"), $0 == 0 ? [] : ["n\($0 - 1)"])
        }))
    let first = try folders.start("run", ["--filters", "none"])
    try server.release(2)
    #expect(try (0..<3).map { _ in try server.nextRequest() } == ["/0", "/1", "/2"])
    try first.kill()
    try server.release(9)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try (0..<2).map { _ in try server.nextRequest() } == ["/2", "/3"])
    #expect(try folders.report("job").counts == Report.Counts(total: 4, filtered: 4))
  }

  @Test func `check shows what entries come after`() throws {
    try folders.drop("job.jsonl", manifest([("a", "http://h.example/a", []), ("b", "http://h.example/b", ["A.jpg"])]))
    let text = try DarkroomCommand.run(["check", folders.inbox + "/job.jsonl"])
    #expect(text.status == 0 && text.output.hasSuffix("http://h.example/b\n    after a\n"), "\(text.output)")
    let json = try DarkroomCommand.run(["check", "--json", folders.inbox + "/job.jsonl"]).output.split(separator: "\n")
    #expect(json.last?.contains(#""after":["a"]"#) == true && json.count { $0.contains("\"after\"") } == 1)
  }

  /// Random entries, some with two variants of which the second may fail, and each after random ones before or behind it.
  private struct RandomManifest {
    var text = ""
    /// The states of the rows, in their order.
    var states: [String] = []

    init(seed: UInt64) throws {
      var random = SplitMix64(seed: seed)
      let count = 14
      // An order in which they could be done, which is not that of the manifest.
      let order = (0..<count).shuffled(using: &random)
      var succeeds: Set<Int> = []
      var rows = Array(repeating: [String](), count: count)
      var lines = Array(repeating: "", count: count)
      for (place, entry) in order.enumerated() {
        let after = Set(
          (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in order[..<place].randomElement(using: &random) })
        let isMissing = Int.random(in: 0..<6, using: &random) == 0
        let variants = Int.random(in: 0..<3, using: &random)
        let isReady = after.isSubset(of: succeeds)
        let first = isReady && !isMissing ? "filtered" : "failed"
        rows[entry] = variants == 0 ? [first] : [first, variants == 2 ? "failed" : first]
        if isReady, !isMissing, variants < 2 { succeeds.insert(entry) }
        let width = variants == 2 ? 20000 : 20
        var fields: [String: Any] = [
          "url": isMissing ? "missing.jpg" : "chelsea-small.png", "name": "n\(entry)", "after": after.map { "n\($0)" },
        ]
        if variants > 0 {
          fields["variants"] = [
            ["name": "a"], ["name": "b", "format": "webp", "filters": "resize(exact \(width) 9 enlarge)"],
          ]
        }
        lines[entry] = String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self)
      }
      text = lines.joined(separator: "\n")
      states = rows.flatMap { $0 }
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `of random entries those succeed that can, also when the program is killed between`(seed: UInt64) throws {
    let manifest = try RandomManifest(seed: seed)
    try folders.drop("job.jsonl", manifest.text)
    let first = try folders.start("run", ["--filters", "none", "--verbose"])
    for _ in 0..<seed % 5 where seed % 5 < manifest.states.count { _ = try first.waitForLine(containing: "job: n") }
    try first.kill()
    let isDone = try folders.inboxNames().isEmpty
    let again = try folders.run(["--filters", "none"])
    #expect(again.status == (manifest.states.contains("failed") && !isDone ? 1 : 0), "\(again.error)")
    let report = try folders.report("job")
    #expect(report.entries.map(\.state) == manifest.states)
    #expect(try folders.objects("job/entries.jsonl").count == manifest.states.count)
    #expect(try folders.staged().isEmpty)
    guard manifest.states.contains("failed") else { return }
    // What is left is a manifest.
    let check = try DarkroomCommand.run(["check", folders.outbox + "/job/job.failed.jsonl"])
    #expect(check.status == 0, "\(check.output)")
  }
}
