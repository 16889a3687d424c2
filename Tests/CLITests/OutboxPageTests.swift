import Foundation
import TestSupport
import Testing

/// `index.html` of the outbox.
@Suite(.blocking) struct OutboxPageTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  @Test func `the page of the outbox lists live jobs first, rejected ones with their problems, and what is ignored`()
    throws
  {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("done.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    try folders.drop("holiday.pdf", "x")
    try folders.drop("bad.json", #"{"a": {"ulr": "coffee.jpg"}}"#)
    try folders.drop("secret.json", #"{"source": "http://me:word@127.0.0.1:1/list?token=abc"}"#)
    try folders.drop("l & <i>%.jsonl", #"{"url": "\#(server.url("a?token=abc"))"}"# + "\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    let page = try #require(
      folders.wait(for: { folders.outboxPage }) { page in
        page.jobs.count == 4 && page.jobs[0]["page"] != nil && page.jobs[0]["state"] as? String == "running"
      })
    let (live, folder) = (page.jobs[0], "l%20%26%20_i_%25~74a5")
    #expect(live["name"] as? String == "l & _i_%~74a5" && live["page"] as? String == folder + "/index.html")
    #expect(live["total"] as? Int == 1 && live["ended"] as? Int == 0 && live["finished_at"] == nil)
    #expect((page.data["instance"] as? [String: Any])?["is_running"] as? Bool == true)
    #expect(
      page.jobs.count == 4 && page.data["has_older"] as? Bool == false && page.data["inbox"] as? String == folders.inbox
    )
    let ended = Dictionary(uniqueKeysWithValues: page.jobs.dropFirst().map { ($0["name"] as? String ?? "", $0) })
    #expect(page.jobs.last?["name"] as? String == "done", "the newest first")
    #expect(
      ended["done"]?["state"] as? String == "succeeded" && ended["done"]?["report"] as? String == "done/report.json")
    let problems = try #require(ended["bad"]?["problems"] as? [[String: Any]])
    #expect(problems.first?["code"] as? String == "unknown-field")
    #expect(problems.contains { ($0["message"] as? String)?.contains("ulr") == true && $0["where"] is String })
    #expect(ended["bad"]?["state"] as? String == "rejected" && ended["bad"]?["page"] as? String == "bad/index.html")
    #expect((ended["secret"]?["problems"] as? [[String: Any]])?.first?["code"] as? String == "source-failed")
    let ignored = page.data["ignored"] as? [[String: Any]]
    #expect(ignored?.first?["file"] as? String == "holiday.pdf" && ignored?.first?["why"] is String)
    for secret in ["token", "word", "http://m"] { #expect(!page.text.contains(secret), "\(secret)") }
    #expect(page.hasOnlyItsOwnElements)
    // The page of a rejected manifest has its problems, too.
    #expect((folders.page("bad")?.head["errors"] as? [[String: Any]])?.isEmpty == false)

    watch.send(SIGTERM)
    // What runs has its time.
    try server.release(10)
    #expect(try watch.finish().status == 0)
    let last = try #require(folders.outboxPage)
    #expect((last.data["instance"] as? [String: Any])?["is_running"] as? Bool == false)
    #expect(last.jobs.count == 4 && last.jobs.allSatisfy { $0["state"] as? String != "running" })
    // A job that was taken away leaves the page.
    try FileManager.default.removeItem(atPath: folders.outbox + "/done")
    #expect(try folders.run().status == 0)
    #expect(folders.outboxPage?.jobs.contains { $0["name"] as? String == "done" } == false)
  }

  @Test func `jobs with warnings about their manifests have their number, also when the page is made anew`() throws {
    try folders.drop("odd.csv", "url,nmae\ncoffee.jpg,a\n")
    try folders.drop("fine.txt", "coffee.jpg\n")
    for _ in 0..<2 {
      #expect(try folders.run(["--filters", "none"]).status == 0)
      let jobs = try #require(folders.outboxPage?.jobs)
      let warnings = jobs.map { "\($0["name"] ?? ""): \($0["warnings"] ?? 0)" }
      #expect(warnings.sorted() == ["fine: 0", "odd: 1"])
      try FileManager.default.removeItem(atPath: folders.outbox + "/index.html")
    }
  }

  @Test func `of a job that ran in several processes the page has the last run, also after others`() throws {
    for number in 0..<3 {
      try folders.drop("a.txt", "coffee.jpg\n")
      #expect(try folders.run(["--filters", "none"]).status == 0)
      try folders.drop("other\(number).txt", "coffee.jpg\n")
      #expect(try folders.run(["--filters", "none"]).status == 0)
      let job = try #require(folders.outboxPage?.jobs.first { $0["name"] as? String == "a" })
      #expect(job["run_id"] as? String == folders.page("a")?.head["run_id"] as? String)
    }
  }

  @Test func `jobs of a process that was killed are on the next one's page, and those of an outbox without one`() throws
  {
    for job in ["a", "b"] { try folders.drop(job + ".txt", "coffee.jpg\n") }
    #expect(try folders.run(["--filters", "none", "--gallery", "off"]).status == 0)
    #expect(try folders.run().status == 0)
    let names: () -> [String] = { [folders] in
      (folders.outboxPage?.jobs ?? []).compactMap { $0["name"] as? String }.sorted()
    }
    #expect(names() == ["a", "b"])
    try folders.drop("c.txt", "coffee.jpg\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    #expect(try watch.waitForLine(containing: "c: succeeded") != nil)
    try watch.kill()
    #expect(try folders.run().status == 0)
    #expect(names() == ["a", "b", "c"])
    let page = try #require(folders.outboxPage)
    #expect(page.jobs.first { $0["name"] as? String == "c" }?["page"] as? String == "c/index.html")
    #expect(page.jobs.first { $0["name"] as? String == "a" }?["page"] == nil, "it has none")
  }

  @Test func `a page that is not the program's stays, is told of once, and fails no job`() throws {
    let mine = Data("<html>mine</html>".utf8)
    try mine.write(to: URL(fileURLWithPath: folders.outbox + "/index.html"))
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try folders.run(["--filters", "none"]).expect(status: 0)
    let told = "\(folders.outbox)/index.html is a file that is not darkroom's and stays"
    #expect(run.error.components(separatedBy: told).count == 2, "\(run.error)")
    #expect(try folders.contents("index.html") == mine)
    #expect(folders.page("job")?.entries.count == 1)
  }

  @Test(.disabled(if: ImmutableFolder.obstacle != nil, Comment(rawValue: ImmutableFolder.obstacle ?? "")))
  func `pages that cannot be written are told of once and fail no job`() throws {
    for job in ["a", "b"] { try folders.drop(job + ".txt", "coffee.jpg\n") }
    #expect(try folders.run(["--filters", "none"]).status == 0)
    let paths = ["index.html", "a/index.html", "b/index.html"].map { folders.outbox + "/" + $0 }
    let fixed = try paths.map { try ImmutableFolder($0) }
    for job in ["a", "b"] { try folders.drop(job + ".txt", "rocket.jpg\n") }
    let run = try folders.run(["--filters", "none"])
    for file in fixed { file.release() }
    #expect(run.status == 0, "\(run.error)")
    #expect(run.error.components(separatedBy: "is not written: ").count == 3, "\(run.error)")
    #expect(try folders.report("a").state == "succeeded" && folders.report("b").state == "succeeded")
    #expect(folders.page("a")?.entries.first?["name"] as? String == "coffee")
    #expect(try folders.staged().isEmpty)
  }

  @Test func `no job can have the name of the page`() throws {
    try folders.drop("index.html.txt", "coffee.jpg\n")
    let run = try folders.run()
    #expect(run.status == 0 && run.error.contains("no job can be called index.html"), "\(run.error)")
    #expect(try folders.inboxNames() == ["index.html.txt"])
    #expect((folders.outboxPage?.data["ignored"] as? [[String: Any]])?.count == 1)
    let named = try folders.run([folders.inbox + "/index.html.txt"])
    #expect(named.status == 66 && named.error.contains("no job can be called index.html"), "\(named.error)")
    try folders.ask("add", ["--name", "index.html", "https://h.example/a.jpg"]).expect(status: 64)
  }
}
