import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct JobTests {
  @Test func `a job that runs again keeps the earlier report in history and replaces its own results`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run().status == 0)
    let first = try folders.report("job")
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "invert()"]).status == 0)
    let second = try folders.report("job")
    #expect(first.run_id != second.run_id)
    #expect(first.entries.first?.output?.sha256 != second.entries.first?.output?.sha256)
    let history = try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/history/" + first.run_id)
    #expect(Set(history) == ["report.json", "manifest.txt", "entries.jsonl"])
  }

  @Test func `a file that is not ours is never overwritten`() throws {
    let folders = try DarkroomFolders()
    try FileManager.default.createDirectory(
      atPath: folders.outbox + "/job/images", withIntermediateDirectories: true)
    let foreign = URL(fileURLWithPath: folders.outbox + "/job/images/coffee.jpg")
    try Data("somebody's".utf8).write(to: foreign)
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    #expect(try folders.run().status == 1)
    #expect(try Data(contentsOf: foreign) == Data("somebody's".utf8))
    #expect(try folders.report("job").entries.map { $0.error?.code } == ["name-conflict", nil])
    // Nor is a result of ours that somebody has changed since.
    let ours = URL(fileURLWithPath: folders.outbox + "/job/images/rocket.jpg")
    try Data("changed".utf8).write(to: ours)
    try folders.drop("job.txt", "rocket.jpg\n")
    #expect(try folders.run().status == 1)
    #expect(try Data(contentsOf: ours) == Data("changed".utf8))
  }

  @Test func `a rejected manifest is reported with every problem, moved away, and requests nothing`() throws {
    let folders = try DarkroomFolders()
    try folders.drop(
      "job.json",
      """
      {"defaults": {"qualty": 3}, "entries": [
        {"url": "coffee.jpg", "filters": "sepai(1)"}, {"url": 7}, {"name": "x"}, {"url": "a.jpg", "variants": []},
        {"url": "a.jpg", "name": "Café"}, {"url": "b.jpg", "name": "cafe\\u0301"}]}
      """)
    try folders.run().expect(status: 65)
    let report = try folders.report("job")
    #expect(report.state == "rejected")
    #expect(report.entries.isEmpty)
    let found = report.errors?.map { "\($0.code) \($0.where ?? "")" }
    #expect(
      found == [
        "unknown-field defaults.qualty", "bad-recipe entries[0].filters", "wrong-type entries[1].url",
        "bad-value entries[2]", "bad-value entries[3].variants", "duplicate-name entries[5]",
      ])
    #expect(report.errors?.first?.message.contains("quality") == true)
    #expect(try folders.inboxNames().isEmpty)
    #expect(folders.exists("job/manifest.json"))
    #expect(!folders.exists("job/images"))
  }

  @Test func `a manifest that is named is processed and left where it is`() throws {
    let folders = try DarkroomFolders()
    let path = folders.folder.file("mine.txt")
    try Data("coffee.jpg\n".utf8).write(to: URL(fileURLWithPath: path))
    try folders.drop("other.txt", "coffee.jpg\n")
    let run = try folders.run([path]).expect(status: 0)
    #expect(run.output == folders.outbox + "/mine/report.json\n")
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try folders.inboxNames() == ["other.txt"], "only what is named is processed")
    #expect(try folders.run([folders.inbox + "/other.txt"]).status == 0)
    #expect(try folders.inboxNames().isEmpty, "a manifest of the inbox is moved all the same")
    #expect(try folders.run([folders.folder.file("nothing.txt")]).status == 66)
    let named = folders.folder.file("named.txt")
    try Data("coffee.jpg\n".utf8).write(to: URL(fileURLWithPath: named))
    let both = try folders.run([folders.folder.file("nothing.txt"), named])
    #expect(both.status == 66 && both.error.contains("nothing.txt: No such file"), "\(both.error)")
    #expect(try folders.report("named").state == "succeeded", "one that is missing keeps the others from nothing")
  }

  @Test func `watch takes what is dropped, tells of foreign files once, and ends with 0`() throws {
    let folders = try DarkroomFolders()
    let watch = try folders.watch(["--poll-interval", "60", "--verbose"])
    // With a minute between scans, only the kernel's notice can be what wakes it.
    try folders.drop("notes.docx", "?")
    #expect(try watch.waitForLine(containing: "notes.docx") != nil)
    try folders.drop("one.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "one: succeeded") != nil)
    try folders.drop("two.jsonl", "\"rocket.jpg\"\n")
    #expect(try watch.waitForLine(containing: "two: succeeded") != nil)
    let finished = try watch.stop()
    #expect(finished.error.components(separatedBy: "notes.docx").count == 2)
    #expect(
      finished.output
        == "one two ".replacing(" ", with: "/report.json\n").replacing("one", with: folders.outbox + "/one").replacing(
          "two", with: folders.outbox + "/two"))
    #expect(try folders.inboxNames() == ["notes.docx"])
  }

  @Test func `priorities come first, and within them the manifest's order`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let priorities = ["low", "normal", "veryHigh", "veryLow", "normal", "high"]
    try folders.drop(
      "job.jsonl",
      priorities.enumerated().map { "{\"url\": \"\(server.url("\($0.offset)"))\", \"priority\": \"\($0.element)\"}\n" }
        .joined())
    try server.release(6)
    #expect(try folders.run(["--downloads", "1", "--filters", "none"]).status == 0)
    let order = try (0..<6).map { _ in try server.nextRequest() }
    #expect(order == ["/2", "/5", "/1", "/4", "/0", "/3"])
    #expect(try folders.report("job").entries.map(\.index) == Array(0..<6), "rows are in manifest order")
  }

  @Test func `a manifest of the job of another format's is told that it takes its place`() throws {
    let folders = try DarkroomFolders()
    var told: [[String]] = []
    for file in ["a.txt", "a.csv", "a.CSV.gz", "a.txt"] {
      let text = file == "a.txt" ? "coffee.jpg\n" : "url\ncoffee.jpg\n"
      try folders.drop(file, file.hasSuffix("gz") ? Gzip.packed([Data(text.utf8)]) : Data(text.utf8))
      let run = try folders.run(["--filters", "none"]).expect(status: 0)
      let warnings = try folders.report("a").warnings ?? []
      #expect(try ReportSchema.violations(of: folders.contents("a/report.json")) == "")
      #expect(run.error.contains("a: warning: the last run of job a was of ") == !warnings.isEmpty, "\(run.error)")
      told.append(warnings.map(\.code))
    }
    #expect(told == [[], ["other-manifest"], [], ["other-manifest"]])
  }

  @Test func `names that differ in case are two jobs, which nothing mixes up`() throws {
    let folders = try DarkroomFolders()
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    for (job, name) in [("A", "upper"), ("a", "lower")] {
      try folders.drop("\(job).jsonl", #"{"name": "\#(name)", "url": "coffee.jpg"}"# + "\n")
    }
    let watch = try folders.start("watch", ["--filters", "none"])
    for _ in 0..<2 { #expect(try watch.waitForLine(containing: ": 1 entry") != nil) }
    #expect(try folders.ask("cancel", ["a"]).status == 0)
    #expect(try folders.ask("wait", ["a"]).status == 1)
    #expect(try folders.inboxNames() == ["A.jsonl", "x.lock"])
    let status = try folders.ask("status").output
    #expect(status.contains("job A: 0 of 1") && status.contains("ended: a: cancelled"), "\(status)")
    try folders.unlock()
    #expect(try folders.ask("wait", ["A"]).status == 0)
    try watch.stop()
    #expect(try folders.report("A").entries.map(\.name) == ["upper"] && folders.exists("A/images/upper.jpg"))
    #expect(try folders.report("a").state == "cancelled" && !folders.exists("a/history"))
  }
}
