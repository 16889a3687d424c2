import Foundation
import TestSupport
import Testing

/// `--keep-originals`: sources are delivered with their results.
@Suite(.blocking) struct OriginalsTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private func source(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/" + name))
  }

  private func run(_ more: [String] = []) throws -> DarkroomProcess.Finished {
    try folders.run(["--keep-originals"] + more)
  }

  private func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: folders.outbox + "/" + path) }

  private func expectOriginals(_ count: Int) throws {
    let report = try folders.report("job")
    #expect(report.counts.filtered == count && report.entries.count == count)
    for row in report.entries {
      let file = try #require(row.source?.file)
      #expect(file == "originals/\(row.name).\((row.url as NSString).pathExtension)")
      #expect(try folders.contents("job/" + file) == source((row.url as NSString).lastPathComponent))
      let output = try #require(row.output?.file)
      #expect(folders.exists("job/" + output))
    }
    #expect(try folders.staged().isEmpty)
  }

  private func waitForFile(_ path: String) {
    #expect(eventually({ folders.exists(path) }, is: { $0 }), "\(path)")
  }

  /// The inode of a file tells whether it is another one.
  private func inode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: folders.outbox + "/" + path)
    return (attributes[.systemFileNumber] as? Int) ?? 0
  }

  @Test(arguments: ["sepia(0.8)", "none"], ["all", "none"])
  func `the source of each result is kept, as it came`(filters: String, metadata: String) throws {
    try folders.drop("job.txt", "coffee.jpg\nchelsea-small.png\n")
    try run(["--filters", filters, "--metadata", metadata]).expect(status: 0)
    try expectOriginals(2)
    // Whoever alters the one does not alter the other.
    #expect(try inode("job/originals/coffee.jpg") != inode("job/images/coffee.jpg"))
    #expect(try folders.mode("job/originals/coffee.jpg") == folders.mode("job/images/coffee.jpg"))
  }

  @Test func `without the option nothing is kept, and what was kept stays`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run().status == 0)
    #expect(!folders.exists("job/originals"))
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try run().status == 0)
    try expectOriginals(1)
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run().status == 0)
    let row = try #require(try folders.report("job").entries.first)
    #expect(row.source?.file == nil && folders.exists("job/originals/coffee.jpg"))
  }

  @Test(arguments: [true, false])
  func `an original that was removed or changed is made again, though its result is reused`(hasCache: Bool) throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let lines = ["coffee.jpg", "chelsea.jpg", "rocket.jpg"].map { server.url($0) + "\n" }.joined()
    let options = hasCache ? [] : ["--cache-size", "0"]
    try folders.drop("job.txt", lines)
    #expect(try run(options).status == 0)
    try expectOriginals(3)
    let (kept, images) = (try inode("job/originals/rocket.jpg"), try inode("job/images/coffee.jpg"))
    try remove("job/originals/coffee.jpg")
    try folders.drop("job.txt", lines)
    try run(options).expect(status: 0)
    try expectOriginals(3)
    #expect(try folders.report("job").counts.reused == 3)
    #expect(try inode("job/originals/rocket.jpg") == kept && inode("job/images/coffee.jpg") == images)
    // What somebody has changed is not ours any more.
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job/originals/coffee.jpg"))
    try folders.drop("job.txt", lines)
    #expect(try run(options).status == 1)
    let report = try folders.report("job")
    #expect(report.counts.failed == 1)
    let failed = report.entries.first { $0.state == "failed" }
    #expect(failed?.name == "coffee" && failed?.error?.code == "name-conflict" && failed?.source?.file == nil)
    #expect(try folders.contents("job/originals/coffee.jpg") == Data("mine".utf8))
    #expect(try folders.staged().isEmpty)
  }

  @Test func `a source that several entries share is kept for each`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let url = server.url("coffee.jpg")
    let entries = (0..<4).map { "{\"url\": \"\(url)\", \"name\": \"\($0)\", \"filters\": \"sepia(0.\($0 / 2 + 1))\"}" }
    try folders.drop("job.jsonl", entries.joined(separator: "\n") + "\n")
    try run().expect(status: 0)
    try expectOriginals(4)
    #expect(try Set((0..<4).map { try inode("job/originals/\($0).jpg") }).count == 4)
  }

  @Test func `an original is there before its picture is filtered, and both are the job's`() throws {
    let gate = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.json", #"{"a/b": "\#(gate.url("x.jpg"))"}"#)
    let watch = try folders.start("watch", ["--keep-originals", "--verbose"])
    #expect(try gate.nextRequest() == "/x.jpg")
    try folders.pause(watch)
    try gate.release(1)
    // The download ends during the pause, and no filtration begins.
    waitForFile("job/originals/a/b.jpg")
    #expect(try folders.contents("job/originals/a/b.jpg") == source("coffee.jpg"))
    #expect(!folders.exists("job/images/a/b.jpg"))
    let page = eventually(
      { (try? folders.contents("job/index.html")).map { String(decoding: $0, as: UTF8.self) } ?? "" },
      is: { $0.contains(#""state":"downloaded""#) })
    #expect(page.contains(#""operations":[{"index":0,"name":"a/b","state":"downloaded","#), "\(page)")
    #expect(page.contains(#""original":"originals/a/b.jpg"}]"#), "\(page)")
    try watch.kill()
    try folders.unlock()
    let before = try inode("job/originals/a/b.jpg")
    let second = try folders.start("run", ["--keep-originals"])
    #expect(try gate.nextRequest() == "/x.jpg")
    try gate.release(1)
    try second.finish().expect(status: 0)
    #expect(try inode("job/originals/a/b.jpg") == before, "the killed process had recorded it as the job's")
    #expect(try folders.validReport("job").entries.first?.source?.file == "originals/a/b.jpg")
    #expect(try folders.staged().isEmpty)
  }

  @Test func `an original that was there first is another file than a result that copies it`() throws {
    let gate = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.json", #"{"a": "\#(gate.url("x.jpg"))"}"#)
    let watch = try folders.start(
      "watch", ["--keep-originals", "--verbose", "--filters", "none", "--metadata", "all"])
    #expect(try gate.nextRequest() == "/x.jpg")
    try folders.pause(watch)
    try gate.release(1)
    waitForFile("job/originals/a.jpg")
    try folders.unlock()
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    #expect(try inode("job/originals/a.jpg") != inode("job/images/a.jpg"))
    #expect(try folders.contents("job/originals/a.jpg") == folders.contents("job/images/a.jpg"))
    try watch.stop()
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  @Test func `an earlier original stays when the result of a changed source cannot be delivered`() throws {
    let site = try TemporaryFolder()
    try source("coffee.jpg").write(to: URL(fileURLWithPath: site.file("a.jpg")))
    try folders.drop("job.txt", "a.jpg\n")
    try run(["--file-root", site.path]).expect(status: 0)
    try source("rocket.jpg").write(to: URL(fileURLWithPath: site.file("a.jpg")))
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job/images/a.jpg"))
    try folders.drop("job.txt", "a.jpg\n")
    try run(["--file-root", site.path]).expect(status: 1)
    #expect(try folders.report("job").entries.first?.error?.code == "name-conflict")
    #expect(try folders.contents("job/originals/a.jpg") == source("coffee.jpg"))
  }

  @Test func `an original stays when its entry fails, and its row names it`() throws {
    let bad = try TemporaryFolder()
    let half = try source("coffee.jpg").prefix(30_000)
    try half.write(to: URL(fileURLWithPath: bad.file("bad.jpg")))
    for _ in 1...2 {
      try folders.drop("job.txt", "bad.jpg\n")
      #expect(try run(["--file-root", bad.path]).status == 1)
      let row = try #require(try folders.validReport("job").entries.first)
      #expect(row.error?.code == "image-truncated" && row.source?.file == "originals/bad.jpg")
      #expect(try folders.contents("job/originals/bad.jpg") == half)
      #expect(try folders.staged().isEmpty)
    }
  }

  @Test func `what is no picture has no original`() throws {
    let bad = try TemporaryFolder()
    try Data("no picture".utf8).write(to: URL(fileURLWithPath: bad.file("bad.jpg")))
    try folders.drop("job.txt", "bad.jpg\n")
    #expect(try run(["--file-root", bad.path]).status == 1)
    #expect(!folders.exists("job/originals"))
    #expect(try folders.staged().isEmpty)
  }

  @Test(arguments: [[], ["--cache-size", "0"], ["--filtrations", "1"], ["--filters", "none", "--metadata", "all"]])
  func `variants have one original, which stays when one of them fails`(options: [String]) throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let wide = #"{"name": "a.wide", "filters": "resize(exact 20000 10 enlarge)", "format": "webp"}"#
    let manifest = #"""
      {"url": "\#(server.url("coffee.jpg"))", "name": "x/y", "variants": [\#(wide), {"name": "b"}, {"name": "c"}]}
      """#
    try folders.drop("job.jsonl", manifest)
    #expect(try run(options).status == 1)
    let rows = try folders.report("job").entries
    #expect(rows.map(\.state) == ["failed", "filtered", "filtered"])
    #expect(rows.allSatisfy { $0.source?.file == "originals/x/y.jpg" })
    let originals = folders.outbox + "/job/originals"
    #expect(try FileManager.default.subpathsOfDirectory(atPath: originals).sorted() == ["x", "x/y.jpg"])
    #expect(try folders.contents("job/originals/x/y.jpg") == source("coffee.jpg"))
    #expect(try folders.staged().isEmpty)
    // What is there is not made again.
    let before = try inode("job/originals/x/y.jpg")
    try folders.drop("job.jsonl", manifest)
    #expect(try run(options).status == 1)
    #expect(try folders.report("job").counts.reused == 2 && inode("job/originals/x/y.jpg") == before)
    try folders.checkOutbox()
  }

  @Test(arguments: [("", 0), ("fsync,fdatasync", 3), ("fsync,fdatasync", 5), ("fsync,fdatasync", 7), ("renameat2", 1)])
  func `a result whose name is taken fails, and its original stays, killed or not`(calls: String, number: Int) throws {
    let images = folders.outbox + "/job/images"
    try FileManager.default.createDirectory(atPath: images, withIntermediateDirectories: true)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: images + "/coffee.jpg"))
    try folders.drop("job.txt", "coffee.jpg\n")
    if number > 0 {
      let inject = "-e trace=\(calls) -e inject=\(calls):signal=KILL:when=\(number)"
      _ = try DarkroomProcess.run(
        script: "strace -f -qq -o /dev/null \(inject) \(folders.line("run", ["--keep-originals"])) || true",
        in: folders.folder)
    }
    _ = try run()
    let row = try #require(try folders.report("job").entries.first)
    #expect(row.error?.code == "name-conflict" && row.source?.file == "originals/coffee.jpg")
    #expect(try folders.contents("job/originals/coffee.jpg") == source("coffee.jpg"))
    #expect(try folders.contents("job/images/coffee.jpg") == Data("mine".utf8))
    #expect(try folders.staged().isEmpty)
  }

  @Test func `a file that has an original's name is not touched, unless it is equal`() throws {
    let originals = folders.outbox + "/job/originals"
    try FileManager.default.createDirectory(atPath: originals, withIntermediateDirectories: true)
    try source("coffee.jpg").write(to: URL(fileURLWithPath: originals + "/coffee.jpg"))
    try Data("mine".utf8).write(to: URL(fileURLWithPath: originals + "/rocket.jpg"))
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    #expect(try run().status == 1)
    let report = try folders.report("job")
    #expect(report.entries.map(\.state) == ["filtered", "failed"])
    #expect(report.entries[1].error?.code == "name-conflict")
    #expect(try folders.contents("job/originals/rocket.jpg") == Data("mine".utf8))
    #expect(!folders.exists("job/images/rocket.jpg"))
    #expect(try folders.staged().isEmpty)
  }

  @Test(arguments: ["renameat2", "fsync,fdatasync"], Array(1...6).sample(2))
  func `killed anywhere, the next run completes both`(calls: String, number: Int) throws {
    try folders.drop("job.txt", "coffee.jpg\nchelsea-small.png\n")
    _ = try folders.run(["--keep-originals"], injecting: "\(calls):signal=KILL:when=\(number)")
    try run().expect(status: 0)
    try expectOriginals(2)
  }
}
