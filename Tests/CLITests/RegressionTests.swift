import Foundation
import TestSupport
import Testing

/// What once went wrong, as its users would have met it.
@Suite(.blocking) struct RegressionTests {
  @Test(arguments: [-1_000_000_000_000, 10_413_792_000, 1 << 33])
  func `a file's date may be any`(seconds: Int) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    var times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
    #expect(utimensat(AT_FDCWD, folders.inbox + "/job.txt", &times, 0) == 0)
    #expect(try folders.run(["--filters", "none"]).status == 0)
  }

  @Test func `the time between two processes is no pause, and a lock that stays is one pause`() throws {
    let folders = try DarkroomFolders()
    let lock = folders.inbox + "/x.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    for job in ["gone", "stays"] {
      try folders.drop("\(job).txt", "coffee.jpg\n")
      let run = try folders.start("run", ["--filters", "none"])
      #expect(try run.waitForLine(containing: "\(job): 1 entry") != nil)
      try run.kill()
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
