import Foundation
import TestSupport
import Testing

/// `--prune`: what the manifest no longer names goes, if it is still what was delivered.
@Suite(.blocking) struct PruneTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private func run(_ manifest: String, _ more: [String] = ["--prune"]) throws -> DarkroomProcess.Finished {
    try folders.drop("job.json", manifest)
    return try folders.run(more)
  }

  /// The files of the job in a folder.
  private func files(_ folder: String = "images") throws -> [String] {
    let path = folders.outbox + "/job/" + folder
    return try FileManager.default.subpathsOfDirectory(atPath: path).filter { $0.contains(".") }.sorted()
  }

  private func check() throws {
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  private static let three = #"{"a": "coffee.jpg", "s/b": "rocket.jpg", "c": "chelsea-small.png"}"#

  @Test func `results that are no longer named go, with their originals, and everything else stays`() throws {
    #expect(try run(Self.three, ["--keep-originals"]).status == 0)
    #expect(try files() == ["a.jpg", "c.png", "s/b.jpg"] && files("originals") == files())
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job/images/mine.jpg"))
    // Without the option nothing goes.
    #expect(try run(#"{"a": "coffee.jpg"}"#, []).status == 0)
    #expect(try files() == ["a.jpg", "c.png", "mine.jpg", "s/b.jpg"])
    // One more is named again, in another format.
    let manifest = #"{"a": "coffee.jpg", "c": {"url": "chelsea-small.png", "format": "webp"}}"#
    #expect(try run(manifest).status == 0)
    #expect(try files() == ["a.jpg", "c.webp", "mine.jpg"])
    #expect(try files("originals") == ["a.jpg", "c.png"])
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/mine.jpg")
    try check()
    // What went is made again when it is named again.
    #expect(try run(Self.three).status == 0)
    #expect(try files() == ["a.jpg", "c.png", "s/b.jpg"])
  }

  @Test func `folders that become empty go, and the log and the event have the number of files`() throws {
    let deep = #"{"a": "coffee.jpg", "s/t/b": "rocket.jpg", "s/c": "chelsea-small.png", "u/d": "rocket.jpg"}"#
    #expect(try run(deep, ["--keep-originals"]).status == 0)
    try FileManager.default.createDirectory(
      atPath: folders.outbox + "/job/images/u/mine", withIntermediateDirectories: true)
    let fewer = try run(#"{"a": "coffee.jpg", "s/c": "chelsea-small.png"}"#, ["--prune", "--keep-originals"])
    #expect(fewer.error.contains("job: --prune has removed 4 files of earlier runs"), "\(fewer.error)")
    func subpaths(_ folder: String) throws -> [String] {
      try FileManager.default.subpathsOfDirectory(atPath: folders.outbox + "/job/" + folder).sorted()
    }
    #expect(try subpaths("images") == ["a.jpg", "s", "s/c.png", "u", "u/mine"])
    #expect(try subpaths("originals") == ["a.jpg", "s", "s/c.png"])
    try check()
    // What is named again gets its folders again.
    let event = try run(deep, ["--prune", "--keep-originals", "--json"])
    #expect(!event.output.contains("pruned") && !event.error.contains("--prune"))
    #expect(try subpaths("originals").contains("s/t/b.jpg"))
    let last = try run(#"{"a": "coffee.jpg"}"#, ["--prune", "--json", "--quiet"])
    #expect(last.output.contains(#""pruned":6"#) && last.error.isEmpty, "\(last.output)")
    #expect(try subpaths("images") == ["a.jpg", "u", "u/mine"])
    try check()
  }

  @Test(arguments: [false, true])
  func `an original goes when its entry's source has another extension now, if it is still what was kept`(
    keepsOriginals: Bool
  ) throws {
    let more = keepsOriginals ? ["--prune", "--keep-originals"] : ["--prune"]
    let two = #"{"a": "coffee.jpg", "b": {"url": "rocket.jpg", "variants": [{"name": "v", "format": "png"}]}}"#
    #expect(try run(two, ["--keep-originals"]).status == 0)
    #expect(try files("originals") == ["a.jpg", "b.jpg"])
    #expect(try run(two, more).status == 0)
    #expect(try files("originals") == ["a.jpg", "b.jpg"])
    #expect(try run(two.replacing("coffee.jpg", with: "chelsea-small.png"), more).status == 0)
    #expect(try files("originals") == (keepsOriginals ? ["a.png"] : []) + ["b.jpg"])
    try check()
    // Somebody else's by now.
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job/originals/b.jpg"))
    #expect(try run(two.replacing("rocket.jpg", with: "chelsea-small.png"), more).status == 0)
    #expect(try folders.contents("job/originals/b.jpg") == Data("mine".utf8))
  }

  @Test func `a job that failed or has no entries removes nothing, and its report says so`() throws {
    func warning() throws -> String? {
      try folders.validReport("job").warnings?.first { $0.code == "not-pruned" }?.message
    }
    #expect(try run(Self.three).status == 0)
    #expect(try warning() == nil)
    #expect(try run(#"{"a": "coffee.jpg", "x": "missing.jpg"}"#).status == 1)
    #expect(try warning() == "--prune has removed no results of earlier runs, since 1 entry failed")
    #expect(try run("{}").status == 0)
    #expect(try warning() == "--prune has removed no results of earlier runs, since the manifest has no entries")
    #expect(try run(#"{"a": {"url": "coffee.jpg", "filters": "nonsense"}}"#).status == 65)
    #expect(try files() == ["a.jpg", "c.png", "s/b.jpg"])
  }

  @Test func `an error while results are removed is a warning, and no failure of the run`() throws {
    #expect(try run(Self.three).status == 0)
    let images = folders.outbox + "/job/images"
    try folders.drop("job.json", #"{"a": "coffee.jpg"}"#)
    let failed = try folders.run(["--prune"], injecting: "fsync:error=EIO", about: images)
    let report = try folders.validReport("job")
    let warnings = (report.warnings ?? []).filter { $0.code == "not-pruned" }
    let start = "--prune may have left results of earlier runs that it should have removed, since \(images): "
    #expect(warnings.count == 1 && warnings.first?.message.hasPrefix(start) == true, "\(warnings)")
    #expect(failed.status == 0 && report.state == "succeeded" && failed.error.contains("job: warning: " + start))
    // The next run says nothing any more.
    let next = try run(#"{"a": "coffee.jpg", "d": "rocket.jpg"}"#)
    #expect(next.status == 0 && !next.error.contains("--prune may"), "\(next.error)")
    #expect(try folders.validReport("job").warnings == nil && files() == ["a.jpg", "d.jpg"])
    try check()
  }

  @Test func `it is said once in the log when something would have gone, and with --quiet not each night`() throws {
    func said(_ manifest: String, _ more: [String] = []) throws -> [String] {
      let lines = try run(manifest, ["--prune", "--accept-failures", "1000"] + more).error.split(separator: "\n")
      return lines.filter { $0.contains("--prune") }.map { String($0).replacing(#/^\S+ /#, with: "") }
    }
    let warning = "job: warning: --prune has removed no results of earlier runs, since "
    #expect(try run(Self.three).status == 0)
    // Nothing would have gone: what failed has its result of the last run.
    #expect(try said(#"{"a": "coffee.jpg", "s/b": "missing.jpg", "c": "chelsea-small.png", "x": "missing.jpg"}"#) == [])
    #expect(try folders.report("job").warnings == nil)
    #expect(try files() == ["a.jpg", "c.png", "s/b.jpg"])
    let fewer = #"{"a": "coffee.jpg", "x": "missing.jpg"}"#
    #expect(try said(fewer, ["--quiet"]) == [warning + "1 entry failed"])
    #expect(try said(fewer, ["--quiet"]) == [])
    #expect(try said(fewer) == [warning + "1 entry failed"])
    #expect(try said("{}") == [warning + "the manifest has no entries"])
    // Rejected runs say that, and nothing else.
    #expect(try said(#"{"a": {"url": "coffee.jpg", "filters": "nonsense"}}"#) == [])
    // Another format of an entry is something, and what somebody has changed is not.
    let webp =
      #"{"a": {"url": "coffee.jpg", "format": "webp"}, "s/b": "rocket.jpg", "c": "chelsea-small.png", "x": "none.jpg"}"#
    #expect(try said(webp) == [warning + "1 entry failed"])
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/job/images/a.jpg"))
    #expect(try said(webp) == [])
    try check()
  }

  @Test func `what somebody has changed or put there stays`() throws {
    let images = folders.outbox + "/job/images"
    #expect(try run(Self.three, ["--filters", "none", "--metadata", "all"]).status == 0)
    // Changed; replaced by equal bytes, which is what was delivered; adopted.
    try Data("mine".utf8).write(to: URL(fileURLWithPath: images + "/a.jpg"))
    let copy = try folders.contents("job/images/c.png")
    try FileManager.default.removeItem(atPath: images + "/c.png")
    try copy.write(to: URL(fileURLWithPath: images + "/c.png"))
    try folders.contents("job/images/s/b.jpg").write(to: URL(fileURLWithPath: images + "/d.jpg"))
    let adopting = #"{"d": "rocket.jpg", "s/b": "rocket.jpg"}"#
    #expect(try run(adopting, ["--filters", "none", "--metadata", "all"]).status == 0)
    #expect(try run(#"{"s/b": "rocket.jpg"}"#, ["--prune", "--filters", "none", "--metadata", "all"]).status == 0)
    #expect(try files() == ["a.jpg", "d.jpg", "s/b.jpg"])
    #expect(try folders.contents("job/images/a.jpg") == Data("mine".utf8))
  }

  @Test func `variants that are no longer named go, and their entry's original stays`() throws {
    func manifest(_ names: [String]) -> String {
      let variants = names.map { #"{"name": "\#($0)", "filters": "none", "format": "png"}"# }.joined(separator: ",")
      return #"{"x": {"url": "coffee.jpg", "variants": [\#(variants)]}, "y": "rocket.jpg"}"#
    }
    #expect(try run(manifest(["a", "b", "c"]), ["--keep-originals"]).status == 0)
    #expect(try run(manifest(["b"])).status == 0)
    #expect(try files() == ["x.b.png", "y.jpg"] && files("originals") == ["x.jpg", "y.jpg"])
    #expect(try run(#"{"y": "rocket.jpg"}"#).status == 0)
    #expect(try files() == ["y.jpg"] && files("originals") == ["y.jpg"])
    try check()
  }

  @Test(
    arguments: [("unlinkat", 2), ("unlinkat", 3), ("unlinkat", 4), ("unlinkat", 6), ("fsync", 4), ("fsync", 6)].sample(
      2))
  func `killed anywhere, the next start does the rest`(call: String, number: Int) throws {
    #expect(try run(Self.three).status == 0)
    try folders.drop("job.json", #"{"a": "coffee.jpg"}"#)
    _ = try folders.run(["--prune"], injecting: "\(call):signal=KILL:when=\(number)")
    #expect(try folders.run(["--prune"]).status == 0)
    #expect(try files() == ["a.jpg"])
    #expect(try folders.report("job").state == "succeeded")
    try check()
  }
}
