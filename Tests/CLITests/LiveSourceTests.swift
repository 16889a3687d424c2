import Foundation
import TestSupport
import Testing

/// What happens while the source of a manifest is downloaded.
@Suite(.blocking) struct LiveSourceTests {
  private let folders: DarkroomFolders

  /// Has the pictures.
  private let pictures: GatedServer

  /// Has the list.
  private let lists: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    let pictures = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    self.pictures = pictures
    let list = folders.folder.file("list.txt")
    try (0..<3).map { pictures.url("\($0)") + "\n" }.joined().write(toFile: list, atomically: false, encoding: .utf8)
    lists = try GatedServer(serving: list)
  }

  private static let options = ["--downloads", "1", "--filters", "none", "--verbose"]

  private func drop(_ list: String = "list.txt", as file: String = "job.json", quality: Int = 80) throws {
    try folders.drop(file, #"{"source": "\#(lists.url(list))", "defaults": {"quality": \#(quality)}}"#)
  }

  @Test func `a download of a list that is cancelled ends with its job, and what is secret for its entries stays so`()
    throws
  {
    let watch = try folders.start("watch", Self.options)
    let defaults = #""defaults": {"headers": {"X-Token": "s"}}"#
    try folders.drop("job.json", #"{"source": "\#(lists.url("list.txt"))", \#(defaults)}"#)
    #expect(try lists.nextRequest() == "/list.txt")
    #expect(try DarkroomProcess.run(["cancel", "job"] + folders.named).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled: ") != nil)
    #expect(try folders.mode("job/manifest.json") == 0o600 && folders.report("job").state == "cancelled")
    try watch.stop()
    try checkNothingIsLeft()
  }

  private func jobs() throws -> [[String: Any]] {
    let status = try DarkroomProcess.run(["status", "--json"] + folders.named)
    let whole = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
    return try #require(whole?["jobs"] as? [[String: Any]])
  }

  private func states() throws -> [String] { try jobs().compactMap { $0["state"] as? String } }

  /// Waits until the status says so.
  private func wait(for states: [String]) throws {
    let deadline = ContinuousClock.now + .seconds(60)
    while try self.states() != states, ContinuousClock.now < deadline { usleep(20_000) }
    #expect(try self.states() == states)
  }

  private func checkNothingIsLeft() throws {
    #expect(try folders.inboxNames() == [])
    #expect(try folders.staged() == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/jobs") == [])
    try folders.checkOutbox()
  }

  @Test func `a process that is killed while a source is downloaded is followed by one that downloads it`() throws {
    try drop()
    let first = try folders.start("watch", Self.options)
    #expect(try lists.nextRequest() == "/list.txt")
    try first.kill()
    try lists.release(2)
    try pictures.release(3)
    #expect(try folders.run(Self.options).status == 0)
    #expect(try folders.report("job").counts.filtered == 3)
    try checkNothingIsLeft()
  }

  @Test func `a process that is killed later is followed by one that plans the same without asking again`() throws {
    try drop()
    let first = try folders.start("watch", Self.options)
    #expect(try lists.nextRequest() == "/list.txt")
    try lists.release(1)
    #expect(try pictures.nextRequest() == "/0")
    try pictures.release(1)
    #expect(try first.waitForLine(containing: ": filtered") != nil)
    try first.kill()
    try pictures.release(3)
    #expect(try folders.run(Self.options + ["--cache-size", "0"]).status == 0)
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 3, filtered: 3))
    #expect(try lists.requestsSoFar() == [])
    try checkNothingIsLeft()
  }

  @Test func `a lock holds a source back, and what is cancelled meanwhile ends at once, without rows`() throws {
    try folders.drop("pause.lock", "")
    let watch = try folders.start("watch", Self.options)
    #expect(try watch.waitForLine(containing: "paused") != nil)
    try drop()
    try drop(as: "other.json")
    try wait(for: ["fetching", "fetching"])
    #expect(try DarkroomProcess.run(["cancel", "job"] + folders.named).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled: ") != nil)
    try FileManager.default.removeItem(atPath: folders.inbox + "/other.json")
    #expect(try watch.waitForLine(containing: "other: cancelled") != nil)
    try wait(for: [])
    for job in ["job", "other"] {
      let report = try folders.report(job)
      #expect(report.state == "cancelled" && report.counts == Report.Counts(total: 0, filtered: 0))
      #expect(try ReportSchema.violations(of: folders.contents(job + "/report.json")) == "")
    }
    #expect(try lists.requestsSoFar() == [])
    try FileManager.default.removeItem(atPath: folders.inbox + "/pause.lock")
    try watch.stop()
    try checkNothingIsLeft()
  }

  @Test func `a manifest takes the place of one whose source is being downloaded`() throws {
    try drop("never.txt")
    let watch = try folders.start("watch", Self.four)
    #expect(try lists.nextRequest() == "/never.txt")
    try drop("list.txt")
    #expect(try lists.nextRequest() == "/list.txt", "beside the old one")
    try lists.release(2)
    try pictures.release(3)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    try watch.stop()
    #expect(try lists.requestsSoFar() == [])
    try checkNothingIsLeft()
  }

  private static let four = ["--downloads", "4", "--filters", "none", "--verbose", "--cache-size", "0"]

  @Test func `a replacement whose source lists the same reuses what there is`() throws {
    try drop()
    let watch = try folders.start("watch", Self.four)
    #expect(try lists.nextRequest() == "/list.txt")
    try lists.release(1)
    // No more at once from a host that has not answered.
    #expect(try Set((0..<2).map { _ in try pictures.nextRequest() }) == ["/0", "/1"])
    try pictures.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    #expect(try pictures.nextRequest() == "/2")
    try drop("other/list.txt")
    #expect(try lists.nextRequest() == "/other/list.txt", "beside the old one")
    try lists.release(1)
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try pictures.release(2)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    try watch.stop()
    #expect(try pictures.requestsSoFar() == [], "nothing twice")
    #expect(try folders.report("job").entries.allSatisfy { $0.reused == true })
    #expect(try folders.history("job").map(\.counts) == [Report.Counts(total: 3, filtered: 3)])
    try checkNothingIsLeft()
  }

  @Test func `what is removed while the list of its replacement is downloaded ends, and nothing starts`() throws {
    try folders.drop("job.json", #"["\#(pictures.url("a"))"]"#)
    let watch = try folders.start("watch", Self.four)
    #expect(try pictures.nextRequest() == "/a")
    try drop()
    #expect(try lists.nextRequest() == "/list.txt")
    // Whatever is asked for from now on is answered.
    try FileManager.default.removeItem(atPath: folders.inbox + "/job.json")
    #expect(try watch.waitForLine(containing: "job: cancelled: 0 filtered") != nil)
    try lists.release(9)
    try pictures.release(9)
    try wait(for: [])
    try watch.stop()
    #expect(try lists.requestsSoFar() == [] && pictures.requestsSoFar() == [])
    #expect(try folders.report("job").state == "cancelled")
    try checkNothingIsLeft()
  }

  @Test(arguments: [false, true])
  func `a third manifest does not wait for the list of the second`(isSource: Bool) throws {
    try folders.drop("job.json", #"["\#(pictures.url("0"))", "\#(pictures.url("a"))"]"#)
    let watch = try folders.start("watch", Self.four)
    // A host that has answered gets more than two requests at a time.
    #expect(try Set((0..<2).map { _ in try pictures.nextRequest() }) == ["/0", "/a"])
    try pictures.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    try drop("never.txt")
    #expect(try lists.nextRequest() == "/never.txt")
    if isSource {
      try drop("list.txt")
      #expect(try lists.nextRequest() == "/list.txt")
      try lists.release(2)
    } else {
      try folders.drop("job.json", #"["\#(pictures.url("b"))"]"#)
    }
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try pictures.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: \(isSource ? 3 : 1) filtered") != nil)
    let finished = try watch.stop()
    #expect(try lists.requestsSoFar() == [])
    let states = try folders.history("job").map(\.state)
    // The first may end before the third is planned, and is replaced by no one then.
    #expect(states == ["superseded"] || states == ["succeeded"], "of the second nothing is left: \(finished.error)")
    try checkNothingIsLeft()
  }

  @Test func `a third manifest that is rejected changes nothing for the list of the second`() throws {
    try folders.drop("job.json", #"["\#(pictures.url("a"))"]"#)
    let watch = try folders.start("watch", Self.four)
    #expect(try pictures.nextRequest() == "/a")
    try drop()
    #expect(try lists.nextRequest() == "/list.txt")
    try folders.drop("job.json", "[1]")
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    try lists.release(1)
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try pictures.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    try watch.stop()
    #expect(try lists.requestsSoFar() == [])
    #expect(try folders.history("job").map(\.state).contains("rejected"))
    try checkNothingIsLeft()
  }

  @Test(arguments: [("list.txt?404", "source-failed"), ("list.json", "syntax")])
  func `a list that is no good is not asked for again because the job that it was for has ended`(
    path: String, code: String
  ) throws {
    try folders.drop("job.json", #"["\#(pictures.url("a"))"]"#)
    let watch = try folders.start("watch", Self.four)
    #expect(try pictures.nextRequest() == "/a")
    try drop(path)
    #expect(try lists.nextRequest() == "/" + path)
    try pictures.release(1)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    #expect(try folders.report("job").state == "succeeded", "it is there until there is another")
    try lists.release(9)
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    watch.send(SIGTERM)
    let ended = try watch.finish()
    let lines = ended.error.split(separator: "\n")
    #expect(lines.count { $0.contains("job: planning") } == 2 && lines.count { $0.contains("listed by") } == 1)
    #expect(try lists.requestsSoFar() == [])
    let report = try folders.report("job")
    #expect(report.state == "rejected" && report.errors?.map(\.code) == [code])
    #expect(report.transfers?.requests == 1)
    #expect(try folders.history("job").map(\.state) == ["succeeded"])
    try checkNothingIsLeft()
  }

  @Test(arguments: [false, true])
  func `when a list fails whose download has ended that of another, no earlier manifest goes on`(hasReport: Bool) throws
  {
    let watch = try folders.start("watch", Self.options)
    if hasReport {
      try folders.drop("job.json", #"["\#(pictures.url("a"))"]"#)
      try pictures.release(1)
      #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    }
    try drop("never.txt")
    #expect(try lists.nextRequest() == "/never.txt")
    try folders.drop("job.json", #"{"source": "gone.csv"}"#)
    #expect(try watch.waitForLine(containing: "job: rejected: source") != nil)
    try wait(for: [])
    watch.send(SIGTERM)
    #expect(try !watch.finish().error.contains("the job goes on with its earlier manifest"))
    #expect(try folders.report("job").state == "rejected")
    #expect(try folders.history("job").map(\.state).sorted() == (hasReport ? ["succeeded"] : []))
    try checkNothingIsLeft()
  }

  @Test func `while the list of a replacement is downloaded the job goes on, and if that fails nothing changes`() throws
  {
    try folders.drop("job.json", "[" + (0..<3).map { "\"\(pictures.url("\($0)"))\"" }.joined(separator: ", ") + "]")
    let watch = try folders.start("watch", Self.four)
    _ = try (0..<2).map { _ in try pictures.nextRequest() }
    try drop("list.txt?404")
    #expect(try lists.nextRequest() == "/list.txt?404")
    try pictures.release(1)
    #expect(try pictures.nextRequest() == "/2")
    try lists.release(1)
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    try pictures.release(2)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    try watch.stop()
    #expect(try pictures.requestsSoFar() == [])
    #expect(try folders.history("job").map(\.state) == ["rejected"])
    try checkNothingIsLeft()
  }
}
