import Foundation
import TestSupport
import Testing

/// What once went wrong, as its users would have met it.
@Suite(.blocking) struct RegressionTests {
  @Test func `names that do not resolve fail their entries and nothing else`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    let folders = try DarkroomFolders()
    let lines = (0..<12).map { $0 % 2 == 0 ? "http://typo\($0).invalid/a.jpg" : server.url("coffee.jpg") }
    try folders.drop("job.txt", lines.joined(separator: "\n"))
    #expect(try folders.run(["--downloads", "2", "--filters", "none"]).status == 1)
    #expect(
      try folders.report("job").entries.map { $0.error?.code } == (0..<12).map { $0 % 2 == 0 ? "host-not-found" : nil })
  }

  @Test func `a manifest with NUL bytes does not keep others from being processed`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("zero.txt", Data("coffee.jpg\0\0\n".utf8))
    try folders.drop("zgood.txt", "coffee.jpg\n")
    #expect(try folders.run().status == 1)
    #expect(try folders.report("zero").entries.map { $0.error?.code } == ["url-invalid"])
    #expect(try folders.report("zgood").state == "succeeded")
  }

  @Test(arguments: [-1_000_000_000_000, 10_413_792_000, 1 << 33])
  func `a file's date may be any`(seconds: Int) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, folders.inbox + "/job.txt", &times, 0) == 0)
    #expect(try folders.run(["--filters", "none"]).status == 0)
  }

  @Test func `a signal ends the program while a lock is held`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let watch = try folders.start("watch", ["--downloads", "1", "--filters", "none"])
    #expect(try server.nextRequest() == "/a")
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
    watch.send(SIGTERM)
    #expect(try watch.waitForLine(containing: "stopping") != nil)
    try server.release(1)
    #expect(try watch.finish().status == 0)
    #expect(!folders.exists("job/report.json"))
  }

  @Test func `the time between two processes is no pause, and a lock that stays is one pause`() throws {
    let folders = try DarkroomFolders()
    let lock = folders.inbox + "/x.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    for job in ["gone", "stays"] {
      try folders.drop("\(job).txt", "coffee.jpg\n")
      let run = try folders.start("run", ["--filters", "none"])
      #expect(try run.waitForLine(containing: "\(job): 1 entry") != nil)
      run.send(SIGKILL)
      _ = try run.finish()
      if job == "gone" {
        try FileManager.default.removeItem(atPath: lock)
        #expect(try folders.run(["--filters", "none"]).status == 0)
        #expect(try folders.report(job).pauses?.count == 1)
        try Data().write(to: URL(fileURLWithPath: lock))
      }
    }
    let second = try folders.start("run", ["--filters", "none"])
    #expect(try second.waitForLine(containing: "stays: 1 entry") != nil)
    try FileManager.default.removeItem(atPath: lock)
    #expect(try second.finish().status == 0)
    #expect(try folders.report("stays").pauses?.count == 1)
  }

  @Test func `a manifest replaced while the program was down is processed after the one that was begun`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", server.url("old") + "\n")
    let run = try folders.start("run", ["--filters", "none"])
    #expect(try server.nextRequest() == "/old")
    run.send(SIGKILL)
    _ = try run.finish()
    try folders.drop("job.txt", server.url("new") + "\n")
    try server.release(10)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").entries.map(\.name) == ["new"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/history").count == 1)
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test func `a job that cannot begin is one job, told each time, and keeps no other waiting`() throws {
    let folders = try DarkroomFolders()
    let obstacle = URL(fileURLWithPath: folders.outbox + "/job")
    try Data().write(to: obstacle)
    try folders.drop("job.txt", "coffee.jpg\n")
    try folders.drop("other.txt", "coffee.jpg\n")
    for _ in 0..<2 { #expect(try folders.run(["--filters", "none"]).status == 73) }
    #expect(try folders.report("other").state == "succeeded")
    try FileManager.default.removeItem(at: obstacle)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(!folders.exists("job/history"))
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test func `a manifest that was named and begun is not processed twice`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let path = folders.folder.file("mine.txt")
    try Data((server.url("a") + "\n").utf8).write(to: URL(fileURLWithPath: path))
    let run = try folders.start("run", ["--filters", "none", path])
    #expect(try server.nextRequest() == "/a")
    run.send(SIGKILL)
    _ = try run.finish()
    try server.release(10)
    #expect(try folders.run(["--filters", "none", path]).status == 0)
    #expect(!folders.exists("mine/history"))
  }

  @Test func `files of an inbox that differ only in their spelling are two`() throws {
    let folders = try DarkroomFolders()
    for name in ["\u{fc}.txt", "u\u{308}.txt"] { try folders.drop(name, "coffee.jpg\n") }
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test func `the instance's file is no link to somebody's file`() throws {
    let folders = try DarkroomFolders()
    let victim = URL(fileURLWithPath: folders.folder.file("victim"))
    try Data("precious".utf8).write(to: victim)
    try FileManager.default.createSymbolicLink(
      atPath: folders.inbox + "/.darkroom-instance", withDestinationPath: victim.path)
    // Whoever may write to the inbox stops no instance.
    let run = try folders.run()
    #expect(run.status == 0)
    #expect(run.error.contains("\(folders.inbox)/.darkroom-instance"), "\(run.error)")
    #expect(try Data(contentsOf: victim) == Data("precious".utf8))
  }

  @Test func `jobs follow one another without a pause`() throws {
    let folders = try DarkroomFolders()
    let names = try (0..<5).map { number in
      let path = folders.folder.file("\(number).txt")
      try Data("coffee.jpg\n".utf8).write(to: URL(fileURLWithPath: path))
      return path
    }
    // With a minute between looks, this ends in time only if none is waited for.
    let run = try DarkroomProcess.run(
      ["run"] + folders.options + ["--poll-interval", "3600", "--filters", "none"] + names)
    #expect(run.status == 0)
    #expect(run.output.split(separator: "\n").count == 5)
  }

  @Test func `a name cannot forge a line of the log`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.json", #"{"a\u001b]0;owned\u0007\nFORGED": "missing.jpg"}"#)
    let error = try folders.run().error
    #expect(!error.contains("\u{1b}"))
    #expect(!error.split(separator: "\n").contains { $0.hasPrefix("FORGED") })
  }
}
