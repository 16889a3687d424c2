import Foundation
import TestSupport
import Testing

/// `index.html` of jobs.
@Suite(.blocking) struct GalleryTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private func put(_ text: String, as path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: folders.outbox + "/" + path))
  }

  private func json(_ path: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: folders.contents(path)) as? [String: Any])
  }

  @Test func `the page of a job has what its report has, and hostile texts stay texts`() throws {
    let hostile = #"</script><script>alert(1)</script><!-- & \#u{2028} \#u{2029} \#u{202e}"#
    try folders.drop(
      "a & b.jsonl",
      """
      {"url": "coffee.jpg", "name": "</script><b>", "metadata": {"title": "\(hostile)"}}
      {"url": "chelsea-small.png", "name": "c", "filters": "none", "metadata": {"source":{"file":"originals/x"}}}
      {"url": "missing-\(hostile).jpg", "name": "gone"}
      """)
    try folders.run(["--keep-originals"]).expect(status: 1)
    var report = try json("a & b/report.json")
    let page = try #require(folders.page("a & b"))
    let rows = try #require(report.removeValue(forKey: "entries") as? [[String: Any]])
    #expect(GalleryPage.areEqual(page.head, report))
    #expect(page.data["page"] as? String == "job" && page.data["entries_total"] as? Int == 3 && !page.isLive)
    #expect(
      page.entries.map { $0["original"] as? String }
        == rows.map { ($0["source"] as? [String: Any])?["file"] as? String })
    #expect(
      (page.entries[0]["original"] as? String)?.hasPrefix("originals/") == true && page.entries[2]["original"] == nil)
    for (entry, row) in zip(page.entries, rows) {
      var entry = entry
      entry["original"] = nil
      #expect(GalleryPage.areEqual(entry, row))
    }
    #expect(page.hasOnlyItsOwnElements && !page.html.contains("alert(1)</"))
    #expect(page.html.contains("<title>a &amp; b"))
    #expect(try folders.mode("a & b/index.html") == folders.mode("a & b/report.json"))
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  enum Obstacle: CaseIterable { case file, link, folder }

  @Test(arguments: Obstacle.allCases)
  func `what is not the program's stays, and the report tells it`(obstacle: Obstacle) throws {
    let path = folders.outbox + "/job/index.html"
    try FileManager.default.createDirectory(atPath: folders.outbox + "/job", withIntermediateDirectories: false)
    try folders.folder.write("theirs", as: "theirs.html")
    switch obstacle {
    case .file: try put("<!doctype html>mine", as: "job/index.html")
    case .link:
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: folders.folder.file("theirs.html"))
    case .folder: try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    for _ in 0..<2 {
      try folders.drop("job.txt", "coffee.jpg\n")
      try folders.run(["--filters", "none"]).expect(status: 0)
      let report = try folders.validReport("job")
      #expect(report.warnings?.map(\.code) == ["page-obstacle"] && report.state == "succeeded")
    }
    #expect(folders.folder.text("theirs.html") == "theirs")
    let kind = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    let kinds: [Obstacle: FileAttributeType] = [.file: .typeRegular, .link: .typeSymbolicLink, .folder: .typeDirectory]
    #expect(kind == kinds[obstacle])
    if obstacle == .file { #expect(try folders.contents("job/index.html") == Data("<!doctype html>mine".utf8)) }
    #expect(folders.outboxPage?.jobs.first?["page"] == nil)
    #expect(try folders.staged().isEmpty)
  }

  @Test func `without a gallery nothing is written and nothing removed`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none", "--gallery", "off"]).status == 0)
    #expect(!folders.exists("job/index.html") && !folders.exists("index.html"))
    try put("{\"gallery\": \"off\"}", as: "../config.json")
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    let (page, outbox) = (try folders.contents("job/index.html"), try folders.contents("index.html"))
    try folders.drop("job.txt", "rocket.jpg\n")
    #expect(try folders.run(["--config", folders.folder.file("config.json")]).status == 0)
    #expect(try folders.contents("job/index.html") == page && folders.contents("index.html") == outbox)
    #expect(try folders.report("job").entries.map(\.name) == ["rocket"])
  }

  @Test func `a gallery that is turned off on SIGHUP leaves pages that do not refresh`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try put("{}", as: "../config.json")
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let config = ["--config", folders.folder.file("config.json"), "--verbose"]
    let watch = try folders.start("watch", ["--filters", "none", "--downloads", "1"] + config)
    _ = try server.nextRequest()
    try server.release(1)
    #expect(folders.wait(for: { folders.page("job") }) { $0.entries.count == 1 } != nil)
    try put("{\"gallery\": \"off\"}", as: "../config.json")
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: "reloaded") != nil)
    // What is there then stays: the pages are nobody's from now on.
    let (page, outbox) = (try #require(folders.page("job")), try #require(folders.outboxPage))
    #expect(page.data["refresh_s"] == nil && page.entries.count == 1)
    try server.release(1)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    try watch.stop()
    #expect(folders.page("job")?.html == page.html && folders.outboxPage?.html == outbox.html)
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  @Test func `a job that runs has a page with the rows that are there, also those of a process that was killed`() throws
  {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.txt", server.url("a?404") + "\n" + server.url("b") + "\n" + server.url("c") + "\n")
    let watch = try folders.start("watch", ["--filters", "none", "--downloads", "1"])
    _ = try server.nextRequest()
    try server.release(2)
    let two = folders.wait(for: { folders.page("job") }) { $0.entries.count == 2 }
    let page = try #require(two)
    #expect(page.isLive && page.head["state"] as? String == "running" && page.head["finished_at"] == nil)
    #expect(page.head["run_id"] is String && page.data["entries_total"] as? Int == 2)
    let live = try #require(page.data["live"] as? [String: Any])
    #expect(live["ended"] as? Int == 2 && live["total"] as? Int == 3 && live["paused"] == nil)
    #expect(page.entries.map { $0["index"] as? Int } == [0, 1])
    try watch.kill()
    try folders.checkOutbox()
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/index.html")
    try Data("why".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    let again = try folders.start("watch", ["--filters", "none"])
    let restarted = folders.wait(for: { folders.page("job") }) { _ in true }
    #expect(restarted?.entries.map { $0["state"] as? String } == ["failed", "filtered"])
    #expect((restarted?.data["live"] as? [String: Any])?["paused"] as? String == "x.lock (why)")
    try folders.unlock()
    try server.release(10)
    #expect(try again.waitForLine(containing: "job: partial") != nil)
    #expect(folders.page("job")?.entries.count == 3 && folders.page("job")?.isLive == false)
    try again.stop()
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  @Test func `a job that is stopped, replaced or cancelled has the page of what it came to`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let watch = try folders.start("watch", ["--filters", "none", "--downloads", "1", "--grace", "0"])
    _ = try server.nextRequest()
    try server.release(1)
    #expect(folders.wait(for: { folders.page("job") }) { $0.entries.count == 1 } != nil)
    try watch.stop()
    // Nobody writes it again for now.
    #expect(folders.page("job")?.isLive == false && folders.page("job")?.data["live"] != nil)
    let again = try folders.start("watch", ["--filters", "none", "--downloads", "1"])
    #expect(folders.wait(for: { folders.page("job") }, \.isLive) != nil)
    let first = try #require(folders.page("job")?.head["run_id"] as? String)
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("c") + "\n")
    let replaced = folders.wait(for: { folders.page("job") }) { $0.isLive && $0.head["run_id"] as? String != first }
    #expect(replaced != nil)
    // Nothing is answered, so that the job has not ended before the scan that finds the request.
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    #expect(try again.waitForLine(containing: "job: cancelled: ") != nil)
    #expect(folders.page("job")?.head["state"] as? String == "cancelled" && folders.page("job")?.isLive == false)
    let history = try FileManager.default.subpathsOfDirectory(atPath: folders.outbox + "/job/history")
    #expect(history.contains { $0.hasSuffix("report.json") } && !history.contains { $0.hasSuffix("index.html") })
    try again.stop()
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  private static let points = [("write", [6, 10, 14, 18, 22]), ("renameat", [1, 2, 3])].flatMap { call, numbers in
    numbers.map { (call, $0) }
  }

  @Test(arguments: points.sample(3))
  func `a process that is killed while it writes leaves no part of a page`(call: String, number: Int) throws {
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    _ = try folders.run(["--filters", "none"], injecting: "\(call):signal=KILL:when=\(number)")
    for path in ["job/index.html", "index.html"] where folders.exists(path) {
      #expect(GalleryPage(folders.outbox + "/" + path) != nil, "\(path)")
    }
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(folders.page("job")?.entries.count == 2)
    #expect(folders.outboxPage?.jobs.map { $0["page"] as? String } == ["job/index.html"])
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }

  /// Runs the program after a start of the machine.
  private func start(_ boot: String) throws -> DarkroomProcess.Finished {
    try folders.folder.makeFolder("proc/sys/kernel/random")
    try folders.folder.write(boot + "\n", as: "proc/sys/kernel/random/boot_id")
    return try DarkroomProcess.run(
      ["run", "--filters", "none", "--keep-originals"] + folders.options,
      environment: ["DARKROOM_TEST_KERNEL_ROOT": folders.folder.path])
  }

  @Test func `a rejected manifest leaves the pictures of the last run on the page, also when it is made again`() throws
  {
    try folders.drop("job.txt", "coffee.jpg\nmissing.jpg\n")
    #expect(try start("one").status == 1)
    let good = try #require(folders.page("job"))
    for _ in 0..<2 {
      try folders.drop("job.json", #"{"a": {"ulr": "coffee.jpg"}}"#)
      #expect(try start("one").status == 65)
      let page = try #require(folders.page("job"))
      #expect(page.entries.map { $0["name"] as? String } == ["coffee", "missing"])
      #expect(GalleryPage.areEqual(page.head, good.head))
      let rejected = try #require(page.data["rejected"] as? [String: Any])
      #expect(rejected["run_id"] as? String == (try json("job/report.json"))["run_id"] as? String)
      #expect((rejected["errors"] as? [[String: Any]])?.first?["code"] as? String == "unknown-field")
      let shown = try #require(page.data["report"] as? String)
      #expect(try json("job/" + shown)["run_id"] as? String == good.head["run_id"] as? String)
    }
    let page = try folders.contents("job/index.html")
    try put("", as: "job/index.html")
    #expect(try start("two").status == 0)
    #expect(try folders.contents("job/index.html") == page)
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try start("two").status == 0)
    #expect(folders.page("job")?.entries.count == 1 && folders.page("job")?.data["rejected"] == nil)
    try folders.checkOutbox()
  }

  @Test func `a page has the remedy for each kind of failure`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try server.release(10)
    try folders.drop("job.txt", server.url("a?404") + "\nmissing.jpg\n")
    #expect(try folders.run().status == 1)
    let remedies = try #require(folders.page("job")?.data["remedies"] as? [String: String])
    #expect(remedies.keys.sorted() == ["file-not-found", "http-status (404)"])
    #expect(remedies["http-status (404)"] == "the picture is not there: correct the URL, or remove the entry")
  }

  @Test func `the pages of a job in which nothing happens are written again, so that old ones can be told`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.txt", server.url("a") + "\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    _ = try server.nextRequest()
    for page in [{ [folders] in folders.page("job") }, { [folders] in folders.outboxPage }] {
      let first = try #require(folders.wait(for: page) { $0.data["stale_after_s"] != nil })
      let time = first.data["written_at"] as? String
      let isLater: (GalleryPage) -> Bool = { $0.data["written_at"] as? String != time }
      // Longer where writing a page takes long.
      #expect(folders.wait(for: page, isLater)?.data["stale_after_s"] as? Double ?? 0 >= 30)
    }
    try folders.pause(watch)
    #expect(folders.wait(for: { folders.page("job") }) { ($0.data["live"] as? [String: Any])?["paused"] != nil } != nil)
    watch.send(SIGTERM)
    try server.release(10)
    #expect(try watch.finish().status == 0)
    #expect(folders.outboxPage?.data["stale_after_s"] == nil && folders.outboxPage?.data["paused"] == nil)
  }

  @Test(arguments: [0, 300, nil] as [Int?])
  func `a page that a power cut has left unwritten is made again at the first start after it`(size: Int?) throws {
    try folders.drop("job.txt", "coffee.jpg\nmissing.jpg\n")
    #expect(try start("one").status == 1)
    let page = try folders.contents("job/index.html")
    // As a file system may have it whose journal was ahead of the data.
    try (size.map { page.prefix($0) } ?? Data(count: page.count)).write(
      to: URL(fileURLWithPath: folders.outbox + "/job/index.html"))
    #expect(try start("one").status == 0)
    #expect(folders.page("job") == nil, "pages are examined once after the machine has started")
    #expect(try start("two").status == 0)
    #expect(try folders.contents("job/index.html") == page)
    #expect(try folders.staged().isEmpty)
    try folders.checkOutbox()
  }
}
