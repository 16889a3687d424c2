import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct ReuseTests {
  private let folders: DarkroomFolders
  private let pictures: TemporaryFolder
  private let nginx: Nginx

  init() throws {
    folders = try DarkroomFolders()
    pictures = try TemporaryFolder()
    nginx = try Nginx(serving: pictures.path)
  }

  /// Has the server serve a picture under each name, no two the same.
  private func serve(_ names: [String], shade: Int = 0) throws {
    let script = """
      import sys
      from PIL import Image
      shade = int(sys.argv[1])
      for number, path in enumerate(sys.argv[2:]):
          Image.new("RGB", (40 + number % 50, 30 + shade), (number, shade * 20, 90)).save(path)
      """
    _ = try TestPython.run(script, ["\(shade)"] + names.map(pictures.file))
  }

  /// Drops the same manifest again and runs it.
  private func run(_ names: [String], _ options: [String] = [], status: Int32 = 0) throws -> Report {
    try folders.drop("job.txt", names.map { nginx.url($0) + "\n" }.joined())
    let run = try folders.run(options)
    #expect(run.status == status, "\(run.error)")
    return try folders.report("job")
  }

  enum LedgerLoss: CaseIterable { case overwritten, emptied, removed }

  @Test(arguments: LedgerLoss.allCases)
  func `without the ledger and a cache, reports know what need not be downloaded and made again`(loss: LedgerLoss)
    throws
  {
    let (names, options) = (["a.png", "b.jpg", "c.png"], ["--cache-size", "0"])
    try serve(names)
    let first = try run(names, options)
    var count = try nginx.accessLog().count
    let ledger = URL(fileURLWithPath: folders.outbox + "/.darkroom/ledger.sqlite")
    switch loss {
    case .overwritten: try Data(repeating: 7, count: 9000).write(to: ledger)
    case .emptied: try Data().write(to: ledger)
    case .removed: try FileManager.default.removeItem(at: ledger)
    }
    try folders.drop("job.txt", names.map { nginx.url($0) + "\n" }.joined())
    let again = try folders.run(options).expect(status: 0)
    #expect(again.error.contains("the ledger was \(loss == .removed ? "missing" : "damaged")"), "\(again.error)")
    let aside = try folders.folder.names(in: "outbox/.darkroom/damaged").map { "outbox/.darkroom/damaged/" + $0 }
    let isAside = try aside.contains { try folders.folder.names(in: $0).contains("ledger.sqlite") }
    #expect(isAside == (loss != .removed))
    #expect(try statuses(after: &count) == ["304": 3])
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 3, filtered: 3, reused: 3))
    #expect(report.entries.map(\.output) == first.entries.map(\.output))
    // What is asked for in another way is made again, in the place of what only reports knew.
    let other = try run(names, options + ["--filters", "grayscale()"])
    #expect(other.counts == Report.Counts(total: 3, filtered: 3))
    #expect(try statuses(after: &count)["404"] == nil)
  }

  /// How often the server has answered with which status since it was last asked.
  private func statuses(after count: inout Int) throws -> [String: Int] {
    let new = try nginx.accessLog().dropFirst(count)
    count += new.count
    return new.reduce(into: [:]) { $0[String($1.split(separator: " ")[8]), default: 0] += 1 }
  }

  @Test func `a run that began with --refresh keeps to it when the next start goes on`() throws {
    try serve(["a.jpg", "b.jpg"])
    _ = try run(["a.jpg", "b.jpg"])
    let lock = folders.inbox + "/x.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    var seen = 0
    _ = try statuses(after: &seen)
    try folders.drop("job.txt", ["a.jpg", "b.jpg"].map { nginx.url($0) + "\n" }.joined())
    #expect(try folders.run(["--refresh", "--lock-wait", "0.2"]).status == 75)
    try FileManager.default.removeItem(atPath: lock)
    #expect(try folders.run().status == 0)
    #expect(try statuses(after: &seen) == ["200": 2])
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
    let next = try run(["a.jpg", "b.jpg"])
    #expect(next.counts.reused == 2, "it holds for its run only")
  }

  @Test func `what has not changed is neither sent nor made again`() throws {
    let sources = (0..<100).map { "p\($0).jpg" }
    try serve(sources)
    let names = (0..<1000).map { sources[$0 % 100] }
    var seen = 0

    let first = try run(names)
    #expect(try statuses(after: &seen) == ["200": 100])
    #expect(first.counts == Report.Counts(total: 1000, filtered: 1000))

    let again = try run(names)
    #expect(try statuses(after: &seen) == ["304": 100])
    #expect(again.counts == Report.Counts(total: 1000, filtered: 1000, reused: 1000))
    #expect(again.bytes == Report.Bytes(downloaded: 0, written: 0))
    #expect(again.entries.map(\.output) == first.entries.map(\.output))
    #expect(again.entries.allSatisfy { $0.reused == true })

    let other = try run(names, ["--filters", "grayscale(1)"])
    #expect(try statuses(after: &seen) == ["304": 100])
    #expect(other.counts == Report.Counts(total: 1000, filtered: 1000))
    #expect(other.bytes.downloaded == 0)

    try serve(Array(sources[0..<3]), shade: 1)
    let changed = try run(names, ["--filters", "grayscale(1)"])
    #expect(try statuses(after: &seen) == ["304": 97, "200": 3])
    #expect(changed.counts == Report.Counts(total: 1000, filtered: 1000, reused: 970))

    let refreshed = try run(names, ["--filters", "grayscale(1)", "--refresh"])
    #expect(try statuses(after: &seen) == ["200": 100])
    #expect(refreshed.counts == Report.Counts(total: 1000, filtered: 1000))
    #expect(refreshed.entries.map(\.output) == changed.entries.map(\.output))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/history").count == 4)
  }

  @Test(arguments: [
    ["--filters", "sepia(0.7)"], ["--quality", "84"], ["--format", "png"], ["--metadata", "none"],
    ["--filters", "none"],
  ])
  func `what would become something else is made`(options: [String]) throws {
    try serve(["a.jpg"])
    _ = try run(["a.jpg"])
    let other = try run(["a.jpg"], options)
    #expect(other.counts == Report.Counts(total: 1, filtered: 1))
    #expect(try run(["a.jpg"], options).counts.reused == 1)
    #expect(try run(["a.jpg"]).counts.reused == (options == ["--format", "png"] ? 1 : 0))
  }

  @Test(arguments: ["0", "100"])
  func `whatever the cache has, the results tell by what their sources are asked for again`(size: String) throws {
    let names = (0..<20).map { "p\($0).jpg" }
    let options = ["--cache-size", size]
    try serve(names)
    var seen = 0
    let first = try run(names, options)
    #expect(try statuses(after: &seen) == ["200": 20])
    let again = try run(names, options)
    #expect(try statuses(after: &seen) == ["304": 20])
    #expect(again.counts == Report.Counts(total: 20, filtered: 20, reused: 20))
    #expect(again.bytes == Report.Bytes(downloaded: 0, written: 0))
    #expect(again.entries.map(\.output) == first.entries.map(\.output))
    #expect(again.entries.allSatisfy { $0.source?.http_status == 304 })

    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/p0.jpg")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job/images/p1.jpg"))
    try serve(["p2.jpg"], shade: 1)
    let changed = try run(names, options, status: 1)
    #expect(try statuses(after: &seen) == ["200": 3, "304": 17])
    #expect(changed.counts == Report.Counts(total: 20, filtered: 19, failed: 1, reused: 17))
    #expect(changed.entries[1].error?.code == "name-conflict")
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/p1.jpg")

    let other = options + ["--filters", "invert()"]
    #expect(try run(names, other).counts.reused == 0)
    #expect(try statuses(after: &seen) == ["200": 20])
    #expect(try run(names, other).counts.reused == 20)
    #expect(try statuses(after: &seen) == ["304": 20])
    _ = try run(names, other + ["--refresh"])
    #expect(try statuses(after: &seen) == ["200": 20])
    try folders.checkOutbox()
  }

  @Test func `a source that the cache has forgotten is sent again for a result that is to be made`() throws {
    try serve(["a.jpg"])
    let variants = #"[{"name": "s"}, {"name": "t", "filters": "flip()"}]"#
    let lines = #"{"url": "\#(nginx.url("a.jpg"))", "name": "a", "variants": \#(variants)}"#
    var seen = 0
    for expected in [["200": 1], ["304": 1]] {
      try folders.drop("job.jsonl", lines)
      try folders.run(["--cache-size", "0"]).expect(status: 0)
      #expect(try statuses(after: &seen) == expected)
    }
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/a.t.jpg")
    try folders.drop("job.jsonl", lines)
    try folders.run(["--cache-size", "0"]).expect(status: 0)
    #expect(try statuses(after: &seen) == ["304": 1, "200": 1])
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2, reused: 1))
    try folders.checkOutbox()
  }

  @Test(arguments: [[], ["--cache-size", "0"]])
  func `without a validator the source is downloaded, and its bytes tell`(options: [String]) throws {
    try serve(["a.jpg"])
    _ = try run(["a.jpg"])
    // Served by its older time, nginx gives another validator for the same bytes.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: pictures.file("a.jpg"))
    let again = try run(["a.jpg"], options)
    #expect(again.entries[0].source?.http_status == 200)
    #expect(again.counts.reused == 1)
    #expect(try folders.staged().isEmpty)
  }

  @Test func `a result that was removed is made again, one that was touched or moved there and back is kept`() throws {
    try serve(["a.jpg", "b.jpg", "c.jpg"])
    let names = ["a.jpg", "b.jpg", "c.jpg"]
    let first = try run(names)
    let images = folders.outbox + "/job/images/"
    try FileManager.default.removeItem(atPath: images + "a.jpg")
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1_000_000)], ofItemAtPath: images + "b.jpg")
    try FileManager.default.copyItem(atPath: images + "c.jpg", toPath: images + "copy")
    try FileManager.default.removeItem(atPath: images + "c.jpg")
    try FileManager.default.moveItem(atPath: images + "copy", toPath: images + "c.jpg")
    let again = try run(names)
    #expect(again.entries.map { $0.reused ?? false } == [false, true, true])
    #expect(again.entries.map(\.output) == first.entries.map(\.output))
    #expect(try run(names).counts.reused == 3)
  }

  @Test(arguments: [("md5", []), ("md5", ["--cache-size", "0"]), ("sha-256", ["--cache-size", "0"])])
  func `a checksum counts for what is reused, too`(type: String, options: [String]) throws {
    try serve(["a.jpg"])
    let sum = try TestPython.run(
      "import hashlib, sys; print(hashlib.new(sys.argv[2], open(sys.argv[1], 'rb').read()).hexdigest(), end='')",
      [pictures.file("a.jpg"), type.replacing("-", with: "")])
    let right = String(decoding: sum, as: UTF8.self)
    for (digest, reused, code) in [
      (right, 0, nil), (right, 1, nil), (String(right.reversed()), 0, "checksum-mismatch"), (right, 1, nil),
    ] {
      try folders.drop("job.jsonl", #"{"url": "\#(nginx.url("a.jpg"))", "checksum": "\#(type)=\#(digest)"}"#)
      #expect(try folders.run(options).status == (code == nil ? 0 : 1))
      let report = try folders.report("job")
      #expect(report.counts.reused == reused)
      #expect(report.entries[0].error?.code == code)
    }
  }

  @Test func `a new entry of a source whose result is there gets a copy of it`() throws {
    try serve(["a.jpg"])
    let first = try run(["a.jpg"])
    let again = try run(["a.jpg", "a.jpg"])
    #expect(again.entries.map { $0.reused ?? false } == [true, false])
    #expect(again.entries.map { $0.output?.sha256 } == Array(repeating: first.entries[0].output?.sha256, count: 2))
    #expect(try folders.contents("job/images/a-2.jpg") == folders.contents("job/images/a.jpg"))
  }

  @Test func `thousands of entries of one picture need no more open files than others`() throws {
    try folders.drop("job.txt", String(repeating: "chelsea-small.png\n", count: 1000))
    try DarkroomProcess.run(script: "ulimit -n 200; \(folders.line("run"))", in: folders.folder).expect(status: 0)
    #expect(try Set(folders.report("job").entries.map { $0.output?.sha256 }).count == 1)
  }

  /// What is injected into link's calls is what file systems without hard links say.
  @Test(arguments: ["EPERM", "EOPNOTSUPP", "EMLINK", "EXDEV"])
  func `where files cannot be linked a source is still sent once, and kept`(error: String) throws {
    try serve(["a.jpg"])
    var seen = 0
    for status in ["200", "304"] {
      try folders.drop("job.txt", (0..<10).map { _ in nginx.url("a.jpg") + "\n" }.joined())
      let run = try folders.run(injecting: "link,linkat:error=\(error)")
      #expect(run.status == 0, "\(run.error)")
      #expect(try statuses(after: &seen) == [status: 1])
    }
    #expect(try folders.report("job").counts == Report.Counts(total: 10, filtered: 10, reused: 10))
  }

  @Test(arguments: 1...3)
  func `after a kill the rows say once who brought a source`(number: Int) throws {
    let names = (0..<4).map { "p\($0).jpg" }
    try serve(names)
    try folders.drop("job.txt", (0..<12).map { nginx.url(names[$0 % 4]) + "\n" }.joined())
    _ = try folders.run(injecting: "renameat2:signal=KILL:when=\(number)")
    #expect(try folders.run().status == 0)
    let report = try folders.report("job")
    #expect(report.entries.filter { $0.coalesced != true }.count == 4)
    let sizes = try names.map { try Data(contentsOf: URL(fileURLWithPath: pictures.file($0))).count }
    #expect(report.bytes.downloaded == sizes.reduce(0, +))
  }

  @Test(arguments: [["--downloads", "1"], ["--downloads", "8"]], ["sepia(0.8)", "grayscale(1)", "none"])
  func `a wrong checksum fails its entry, whatever others make of the same source`(
    options: [String], recipe: String
  ) throws {
    try serve(["a.jpg"])
    _ = try run(["a.jpg"])
    let wrong = String(repeating: "0", count: 64)
    let entries = (0..<6).map {
      #"{"url": "\#(nginx.url("a.jpg"))", "name": "n\#($0)"\#($0 % 2 == 1 ? #", "checksum": "sha-256=\#(wrong)""# : "")}"#
    }
    for _ in 0..<2 {
      try folders.drop("job.jsonl", entries.joined(separator: "\n"))
      #expect(try folders.run(options + ["--filters", recipe]).status == 1)
      let codes = try folders.report("job").entries.map { $0.error?.code }
      #expect(codes == (0..<6).map { $0 % 2 == 1 ? "checksum-mismatch" : nil })
    }
  }

  @Test func `what a killed run delivered is kept by the next run of the job`() throws {
    try serve((0..<40).map { "p\($0).jpg" })
    let names = (0..<40).map { "p\($0).jpg" }
    try folders.drop("job.txt", names.map { nginx.url($0) + "\n" }.joined())
    let killed = try folders.start("run", ["--verbose", "--downloads", "2"])
    _ = try killed.waitForLine(containing: ": filtered")
    try killed.kill()
    #expect(try folders.run().status == 0)
    #expect(try run(names).counts == Report.Counts(total: 40, filtered: 40, reused: 40))
  }
}
