import Foundation
import TestSupport
import Testing

/// A manifest that is removed from the inbox, and `darkroom cancel`: what is done stays done, and nothing else begins.
@Suite(.blocking) struct CancelTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private var dozen: String { (0..<12).map { server.url("\($0)") + "\n" }.joined() }
  private static let two = ["--downloads", "2", "--filters", "none", "--verbose"]

  private func cancel(_ jobs: String...) throws -> DarkroomProcess.Finished {
    try DarkroomCommand.run(["cancel"] + jobs + folders.named)
  }

  private func remove(_ name: String) throws {
    try FileManager.default.removeItem(atPath: folders.inbox + "/" + name)
  }

  /// Starts a job of a dozen entries, of which the first ends while two others run.
  private func startDozen(_ name: String = "job.txt") throws -> DarkroomProcess {
    try folders.drop(name, dozen)
    let watch = try folders.start("watch", Self.two)
    for _ in 0..<2 { _ = try server.nextRequest() }
    try server.release(1)
    #expect(try watch.waitForLine(containing: ": filtered") != nil)
    _ = try server.nextRequest()
    return watch
  }

  /// Checks what there is of a job of which the first entries were done.
  private func checkCancelled(_ job: String = "job", total: Int = 12, filtered: Int) throws {
    let report = try folders.report(job)
    #expect(report.state == "cancelled")
    #expect(report.counts == Report.Counts(total: total, filtered: filtered, cancelled: total - filtered))
    #expect(report.entries.map(\.index) == Array(0..<total))
    #expect(report.entries.count { $0.state == "cancelled" } == total - filtered)
    #expect(try ReportSchema.violations(of: folders.contents(job + "/report.json")) == "")
    let log = try String(decoding: folders.contents(job + "/entries.jsonl"), as: UTF8.self).split(separator: "\n")
    #expect(log.count == total && log.count { $0.contains(#""state":"cancelled""#) } == total - filtered)
    #expect(!folders.exists(job + "/\(job).failed.jsonl") && !folders.exists(job + "/history"))
    // A live instance writes the outbox's page there.
    #expect(try eventually({ try folders.staged() }, is: \.isEmpty) == [])
    let names = try FileManager.default.contentsOfDirectory(atPath: folders.inbox)
    #expect(names.filter { !$0.hasPrefix(".darkroom-instance") } == [])
  }

  @Test func `a name that is no open job's keeps no other job from being cancelled, and the message says so`() throws {
    try folders.drop("a.txt", dozen)
    try folders.drop("b.txt", dozen)
    let told = try cancel("a", "nosuch", "b")
    #expect(told.status == 66)
    #expect(
      told.error.contains("no open job \"nosuch\"") && told.error.contains("; the cancelling of a, b was requested"))
    #expect(try folders.run(Self.two).status == 1)
    for job in ["a", "b"] { #expect(try folders.report(job).state == "cancelled") }
    let none = try cancel("nosuch")
    #expect(none.status == 66 && !none.error.contains("requested"))
  }

  // MARK: Removal

  @Test func `removing the manifest of a job cancels what has not been done, and asks for nothing more`() throws {
    let watch = try startDozen()
    try remove("job.txt")
    #expect(try watch.waitForLine(containing: "its manifest was removed") != nil)
    #expect(try watch.waitForLine(containing: "job: cancelled: 1 filtered") != nil)
    #expect(try server.requestsSoFar() == [])
    try checkCancelled(filtered: 1)
    // The report is there a moment before the status says that nothing more is to be done for the job.
    let ended = "ended: job: cancelled, 1 of 12 filtered, 11 cancelled, "
    let status = try eventually({ try folders.ask("status").output }, is: { $0.contains(ended) })
    #expect(status.contains(ended), "\(status)")
    #expect(try String(decoding: folders.contents("job/manifest.txt"), as: UTF8.self) == dozen)
    // Places and queues are free for others.
    try folders.drop("next.txt", dozen)
    try server.release(20)
    #expect(try watch.waitForLine(containing: "next: succeeded: 12 filtered") != nil)
    try watch.stop()
  }

  @Test func `a removal is found by itself, however rarely the inbox is scanned`() throws {
    try folders.drop("job.txt", dozen)
    let watch = try folders.watch(Self.two + ["--poll-interval", "100000", "--settle", "0.2"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    try remove("job.txt")
    #expect(try watch.waitForLine(containing: "its manifest was removed") != nil)
    #expect(try watch.waitForLine(containing: "job: cancelled: 0 filtered") != nil)
    try watch.stop()
  }

  @Test func `what is removed while no instance runs is cancelled by the next`() throws {
    let first = try startDozen()
    first.send(SIGTERM)
    #expect(try first.waitForLine(containing: "stopping") != nil)
    try server.release(2)
    #expect(try first.finish().status == 0)
    try remove("job.txt")
    let second = try folders.start("run", Self.two)
    #expect(try second.waitForLine(containing: "its manifest was removed") != nil)
    #expect(try second.finish().status == 1)
    try checkCancelled(filtered: 3)
  }

  /// Waits for more than two scans.
  private func waitForScans(_ watch: DarkroomProcess) throws {
    for _ in 0..<4 {
      watch.send(SIGHUP)
      guard try watch.waitForLine(containing: "configuration") == nil else { continue }
      Issue.record("it has ended: \(try watch.finish())")
      return
    }
  }

  @Test func `an inbox without the instance file removes nothing`() throws {
    let watch = try startDozen()
    try remove(".darkroom-instance")
    try remove("job.txt")
    try waitForScans(watch)
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: succeeded: 12 filtered") != nil)
    try watch.stop()
    #expect(!folders.exists("job/history"), "nor is it new when it is back")
  }

  @Test func `an inbox that this state has not seen removes nothing at a start, nor at the one after that`() throws {
    let first = try startDozen()
    first.send(SIGTERM)
    #expect(try first.waitForLine(containing: "stopping") != nil)
    try server.release(2)
    #expect(try first.finish().status == 0)
    // As where a share is to be mounted.
    let (inbox, away) = (folders.inbox, folders.folder.file("away"))
    try FileManager.default.moveItem(atPath: inbox, toPath: away)
    try FileManager.default.createDirectory(atPath: inbox, withIntermediateDirectories: false)
    for _ in 0..<2 {
      let watch = try folders.start("watch", Self.two)
      // Before that SIGHUP would end it.
      #expect(try watch.waitForLine(containing: "watching") != nil)
      for _ in 0..<2 { _ = try server.nextRequest() }
      try waitForScans(watch)
      watch.send(SIGTERM)
      #expect(try watch.waitForLine(containing: "stopping") != nil)
      try server.release(2)
      let ended = try watch.finish()
      #expect(!ended.error.contains("cancelled"), "\(ended.error)")
    }
    try FileManager.default.removeItem(atPath: inbox)
    try FileManager.default.moveItem(atPath: away, toPath: inbox)
    try server.release(20)
    try folders.run(Self.two).expect(status: 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 12, filtered: 12))
    #expect(try folders.inboxNames().isEmpty && !folders.exists("job/history"))
  }

  // MARK: The command

  @Test func `cancel ends a job that is paused, and what was in the queues never begins`() throws {
    let watch = try startDozen()
    try folders.pause(watch)
    let asked = try cancel("job")
    #expect(asked.status == 0 && asked.output.isEmpty, "\(asked.error)")
    #expect(try watch.waitForLine(containing: "job: cancelled, as requested") != nil)
    #expect(try watch.waitForLine(containing: "job: cancelled: 1 filtered") != nil)
    try remove("x.lock")
    #expect(try watch.waitForLine(containing: "resumed") != nil)
    #expect(try server.requestsSoFar() == [])
    try checkCancelled(filtered: 1)
    #expect(try String(decoding: folders.contents("job/manifest.txt"), as: UTF8.self) == dozen)
    try folders.drop("next.txt", dozen)
    try server.release(20)
    #expect(try watch.waitForLine(containing: "next: succeeded: 12 filtered") != nil)
    try watch.stop()
  }

  @Test(arguments: [false, true])
  func `cancel works for a job that was named, and for one from standard input`(isStandardInput: Bool) throws {
    let manifest = folders.folder.file("job.txt")
    try dozen.write(toFile: manifest, atomically: false, encoding: .utf8)
    let script =
      "exec darkroom run \(isStandardInput ? "- --name job <job.txt" : "job.txt") "
      + (folders.options + Self.two).map { "'\($0)'" }.joined(separator: " ")
    let run = try DarkroomProcess(script: script, in: folders.folder)
    _ = try server.nextRequest()
    // Its manifest is not in the inbox: who cancels it learns of it from the status, which is written after it has begun.
    let status = try eventually({ try folders.ask("status").output }, is: { $0.contains("\njob job: ") })
    #expect(status.contains("\njob job: "), "\(status)")
    try cancel("job").expect(status: 0)
    try run.finish().expect(status: 1)
    try checkCancelled(filtered: 0)
    #expect(try String(contentsOfFile: manifest, encoding: .utf8) == dozen, "it stays where it is")
  }

  @Test func `cancel works for named manifests that wait for others`() throws {
    let files = try (1...4).map { try folders.folder.write(dozen, as: "n\($0).txt") }
    let run = try folders.start("run", files + ["--jobs", "1"] + Self.two)
    _ = try server.nextRequest()
    let status = try eventually({ try folders.statusText() }, is: { $0.contains("/n4.txt") })
    #expect(status.contains("/n4.txt"), "\(status)")
    #expect(try folders.ask("wait", ["n4", "--timeout", "0.1"]).status == 75, "it has not ended")
    #expect(try cancel("n4").expect(status: 0).error == "cancelling n4\n")
    #expect(try run.waitForLine(containing: "n4: cancelled: 0 filtered") != nil, "the first goes on")
    // The status may still have the last one.
    #expect(try cancel("--all").expect(status: 0).error.hasPrefix("cancelling n1, n2, n3"))
    try run.finish().expect(status: 1)
    for job in ["n1", "n2", "n3", "n4"] { try checkCancelled(job, filtered: 0) }
  }

  @Test func `without an instance the next start cancels, also what nobody has accepted, and keeps the manifests`()
    throws
  {
    let first = try startDozen("begun.txt")
    first.send(SIGTERM)
    #expect(try first.waitForLine(containing: "stopping") != nil)
    try server.release(2)
    _ = try first.finish()
    try folders.drop("new.txt", server.url("new") + "\n" + server.url("new2") + "\n")
    try folders.drop("good.jsonl", "\"coffee.jpg\"\n")
    let asked = try cancel("begun", "new")
    #expect(asked.status == 0 && asked.error.contains("no instance is running"), "\(asked.error)")
    try folders.run(Self.two).expect(status: 1)
    #expect(try folders.report("good").state == "succeeded")
    try checkCancelled("begun", filtered: 3)
    try checkCancelled("new", total: 2, filtered: 0)
    #expect(folders.exists("new/manifest.txt") && folders.exists("begun/manifest.txt"))
    #expect(try cancel("begun").status == 66, "it has ended")
  }

  @Test func `cancel --all cancels every job that is open, and there need be none`() throws {
    try folders.drop("a.txt", server.url("a") + "\n")
    try folders.drop("b.txt", server.url("b") + "\n")
    #expect(try cancel("--all", "a").status == 64)
    let asked = try cancel("--all")
    #expect(asked.status == 0 && asked.error.hasSuffix("the next one cancels a, b\n"), "\(asked.error)")
    #expect(try folders.run(Self.two).status == 1)
    for job in ["a", "b"] { try checkCancelled(job, total: 1, filtered: 0) }
    let again = try cancel("--all")
    #expect(again.status == 0 && again.error == "there is nothing to cancel\n", "\(again.error)")
  }

  @Test(
    .disabled(if: ImmutableFolder.obstacle != nil, Comment(rawValue: ImmutableFolder.obstacle ?? "")),
    arguments: ["cancel", "removal"])
  func `a job whose report is being delivered ends as what it is, and nothing is left of the wish to cancel it`(
    how: String
  ) throws {
    try folders.drop("job.txt", server.url("a") + "\n")
    let watch = try folders.start("watch", Self.two)
    _ = try server.nextRequest()
    // As long as this cannot be moved to the history, the report cannot be placed.
    let job = folders.outbox + "/job"
    for name in ["report.json/x", "history"] {
      try FileManager.default.createDirectory(atPath: job + "/" + name, withIntermediateDirectories: true)
    }
    let history = try ImmutableFolder(job + "/history")
    try server.release(10)
    #expect(try watch.waitForLine(containing: "the report of job job cannot be worked on now") != nil)
    if how == "cancel" {
      #expect(try cancel("job").expect(status: 0).error == "cancelling job\n")
    } else {
      try remove("job.txt")
    }
    // Scans come and go meanwhile.
    try folders.drop("other.txt", server.url("b") + "\n")
    #expect(try watch.waitForLine(containing: "other: succeeded") != nil)
    history.release()
    #expect(try watch.waitForLine(containing: "job: succeeded: 1 filtered") != nil)
    try watch.stop()
    #expect(try folders.report("job").counts == Report.Counts(total: 1, filtered: 1))
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
    // What has the name later is another job.
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("c") + "\n")
    #expect(try folders.run(Self.two).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test func `a job that is not open is 66, and those that are open are cancelled all the same`() throws {
    let watch = try startDozen()
    let asked = try cancel("none", "job").expect(status: 66)
    #expect(asked.error.contains("\"none\"") && !asked.error.contains("\"job\""), "\(asked.error)")
    #expect(try watch.waitForLine(containing: "job: cancelled: 1 filtered") != nil)
    try checkCancelled(filtered: 1)
    #expect(try folders.ask("wait", ["job"]).status == 1)
    // What names nothing goes.
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/.darkroom-cancel-20260101T000000000Z-00000000"))
    for _ in 0..<1000 where try FileManager.default.contentsOfDirectory(atPath: folders.inbox).count > 1 {
      watch.send(SIGHUP)
      _ = try watch.waitForLine(containing: "configuration")
    }
    try checkCancelled(filtered: 1)
    try watch.stop()
  }

  @Test func `retry after cancel does the rest, and keeps what is done`() throws {
    let watch = try startDozen()
    #expect(try cancel("job").status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled: 1 filtered") != nil)
    #expect(try folders.ask("retry", ["job"]).status == 0)
    try server.release(40)
    #expect(try watch.waitForLine(containing: "job: succeeded: 12 filtered") != nil)
    try watch.stop()
  }

  // MARK: Nothing blocks

  @Test(arguments: [false, true])
  func `a stop ends in time while paused, also when the lock goes meanwhile, and the rest is done later`(goes: Bool)
    throws
  {
    let watch = try startDozen()
    try folders.pause(watch)
    watch.send(SIGTERM)
    #expect(try watch.waitForLine(containing: "stopping") != nil)
    if goes { try remove("x.lock") }
    try server.release(2)
    #expect(try watch.finish().status == 0)
    #expect(try server.requestsSoFar() == [], "nothing began")
    if !goes { try remove("x.lock") }
    try server.release(20)
    #expect(try folders.run(Self.two).status == 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 12, filtered: 12))
  }

  @Test
  func `after a kill a request for the manifest is known to status and the next start, whatever has its name now`()
    throws
  {
    let watch = try startDozen()
    try watch.kill()
    #expect(try cancel("job").status == 0)
    // Of the two requests that of the run goes, as if the run had not been known when it was asked for.
    let requests = try FileManager.default.contentsOfDirectory(atPath: folders.inbox).filter {
      $0.hasPrefix(".darkroom-cancel-")
    }
    let ofRun = try #require(requests.first { $0.contains("Z-") })
    #expect(requests.count == 2)
    try remove(ofRun)
    func state() throws -> String? {
      let status = try folders.ask("status", ["--json"]).expect(status: 0)
      return status.output.firstMatch(of: /"state":"([a-z]+)"/).map { String($0.1) }
    }
    try #require(try state() == "cancelling")
    try folders.drop("job.txt", "coffee.jpg\n")
    try #require(try state() == "cancelling")
    // The run of the first manifest may be cancelled by watch alone, which takes the new one for a replacement.
    let second = try folders.start("watch", Self.two)
    #expect(try second.waitForLine(containing: "job: cancelled, as requested") != nil)
    #expect(try second.waitForLine(containing: "job: succeeded: 1 filtered") != nil)
    try second.stop()
    let history = try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/history")
    #expect(history.count == 1)
    #expect(try history.map { try folders.report("job/history/" + $0).state } == ["cancelled"])
    try folders.checkOutbox()
  }

  @Test func `a lock that flickers keeps nothing from ending, and nothing is done twice`() throws {
    try folders.drop("job.txt", dozen)
    let run = try folders.start("run", Self.two)
    try folders.pause(run)
    try server.release(100)
    // Ten times a second.
    for _ in 0..<3000 where !folders.exists("job/report.json") {
      let lock = folders.inbox + "/x.lock"
      try Data().write(to: URL(fileURLWithPath: lock))
      usleep(50_000)
      try FileManager.default.removeItem(atPath: lock)
      usleep(50_000)
    }
    let ended = try run.finish()
    #expect(ended.status == 0 && ended.error.contains("paused: x.lock"), "\(ended.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 12, filtered: 12))
    let requests = try server.requestsSoFar()
    #expect(requests.count == 12 && Set(requests).count == 12)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `a request of another user is told, and keeps no other job from being cancelled`() throws {
    for name in ["a.txt", "b.txt"] { try folders.drop(name, server.url("a") + "\n") }
    #expect(chmod(folders.inbox, 0o1777) == 0 && chown(folders.inbox, 5, 5) == 0)
    #expect(try cancel("--all").status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folders.inbox)
    let requests = names.filter { $0.hasPrefix(".darkroom-cancel-") }
    #expect(requests.count == 2)
    #expect(chown(folders.inbox + "/" + requests[0], 999, 999) == 0)
    try FileManager.default.removeItem(atPath: folders.inbox + "/" + requests[1])
    let again = try cancel("--all")
    #expect(again.status == 66 && again.error.contains(requests[0]), "\(again.error)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox).contains(requests[1]))
    // Those of the inbox's owner count.
    #expect(chown(folders.inbox + "/" + requests[0], 5, 5) == 0)
    #expect(try cancel("--all").status == 0)
  }

  /// Dispatch has some 250 threads.
  @Test func `more jobs than there are threads are cancelled at once, or planned at once, and all end`() throws {
    let folders = try DarkroomFolders()
    let jobs = (0..<320).map { "job\($0)" }
    for job in jobs { try folders.drop(job + ".txt", "coffee.jpg\n") }
    try folders.ask("cancel", ["--all"]).expect(status: 0)
    try folders.run(["--filters", "none"]).expect(status: 1)
    #expect(try jobs.allSatisfy { try folders.report($0).state == "cancelled" })

    for job in jobs { try folders.drop(job + ".txt", "coffee.jpg\nrocket.jpg\n") }
    try folders.run(["--filters", "none", "--jobs", "320"]).expect(status: 0)
    #expect(try jobs.allSatisfy { try folders.report($0).counts.filtered == 2 })
  }
}
