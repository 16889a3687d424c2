import Foundation
import TestSupport
import Testing

/// Another folder has the outbox's path when the program starts, as while a share is not mounted.
@Suite(.blocking) struct OutboxMarkerTests {
  private let folders: DarkroomFolders
  private var away: String { folders.folder.file("away") }

  init() throws {
    folders = try DarkroomFolders()
    try FileManager.default.createDirectory(
      atPath: folders.folder.file("state"), withIntermediateDirectories: false)
  }

  private func run(_ more: [String] = []) throws -> DarkroomProcess.Finished {
    try folders.run(["--filters", "none"] + more)
  }

  private func move(_ from: String, _ target: String) throws {
    try FileManager.default.moveItem(atPath: from, toPath: target)
  }

  private func makeOutbox() throws {
    try FileManager.default.createDirectory(atPath: folders.outbox, withIntermediateDirectories: false)
  }

  /// Uses the outbox, then has an empty folder in its place, and a manifest in the inbox.
  private func unmount(_ options: [String] = []) throws {
    try folders.drop("first.txt", "coffee.jpg\n")
    #expect(try run(options).status == 0)
    try move(folders.outbox, away)
    try makeOutbox()
    try folders.drop("job.txt", "coffee.jpg\n")
  }

  @Test(arguments: [false, true])
  func `an empty outbox where there was one is not filled, and the run after it is back does the work`(
    hasOwnState: Bool
  ) throws {
    let options = hasOwnState ? ["--state", folders.folder.file("state")] : []
    try unmount(options)
    for _ in 0..<2 {
      let early = try run(options).expect(status: 73)
      for words in [folders.outbox, "Is the outbox mounted?", "--create"] {
        #expect(early.error.contains(words), "\(early.error)")
      }
    }
    let watch = try folders.start("watch", options)
    #expect(try watch.finish().status == 73)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox).isEmpty)
    #expect(try folders.inboxNames() == ["job.txt"])
    try FileManager.default.removeItem(atPath: folders.outbox)
    try move(away, folders.outbox)
    #expect(try run(options).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test(arguments: [[false, true], [true, false]])
  func `an outbox that was used with another state folder is warned of, once`(usesOwn: [Bool]) throws {
    let state = folders.folder.file("state")
    func run(withState: Bool) throws -> String {
      try folders.drop("job.txt", "coffee.jpg\n")
      return try self.run(["--quiet"] + (withState ? ["--state", state] : [])).error
    }
    #expect(try run(withState: usesOwn[0]) == "")
    let other = try run(withState: usesOwn[1])
    #expect(other.contains("the outbox was used with another state folder"), "\(other)")
    #expect(try !run(withState: usesOwn[1]).contains("another state folder"))
    #expect(try !run(withState: usesOwn[0]).contains("another state folder"))
  }

  @Test func `an outbox that was moved has its own state with it`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    try run().expect(status: 0)
    let moved = folders.folder.file("moved")
    try move(folders.outbox, moved)
    try folders.drop("job.txt", "coffee.jpg\n")
    let words = ["run", "--inbox", folders.inbox, "--outbox", moved, "--file-root", packageRoot + "/Samples"]
    let run = try DarkroomProcess.run(words + ["--settle", "0"]).expect(status: 0)
    #expect(!run.error.contains("another state folder"), "\(run.error)")
  }

  @Test func `--create begins a new outbox, but only on the command line`() throws {
    try unmount()
    let words = ["run"] + folders.options
    #expect(try DarkroomProcess.run(words, environment: ["DARKROOM_CREATE": "1"]).status == 73)
    let config = folders.folder.file("config.json")
    try #"{"create": true}"#.write(toFile: config, atomically: false, encoding: .utf8)
    #expect(try run(["--config", config]).status == 73)
    #expect(try run(["--create"]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
    #expect(try run().status == 0)
    // That is the outbox now, and the other one is not.
    try FileManager.default.removeItem(atPath: folders.outbox)
    try move(away, folders.outbox)
    let other = try run().expect(status: 73)
    #expect(other.error.contains("this is not the outbox that was used with this inbox"), "\(other.error)")
    #expect(try run(["--create"]).status == 0)
    #expect(try run().status == 0)
  }

  @Test func `an outbox that has its jobs and has lost its state is used`() throws {
    try folders.drop("first.txt", "coffee.jpg\n")
    #expect(try run().status == 0)
    try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom")
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try run().status == 0)
    #expect(try folders.report("job").state == "succeeded")
    // From now on it is known again.
    try FileManager.default.removeItem(atPath: folders.outbox)
    try makeOutbox()
    #expect(try run().status == 73)
  }

  @Test func `an outbox that gets its state back from a backup is the same one still`() throws {
    try folders.drop("first.txt", "coffee.jpg\n")
    #expect(try run().status == 0)
    try move(folders.outbox + "/.darkroom", away)
    #expect(try run().status == 0)
    try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom")
    try move(away, folders.outbox + "/.darkroom")
    try run().expect(status: 0)
  }

  @Test(arguments: ["images/coffee.jpg", "report.json", "entries.jsonl", "history/earlier/report.json"])
  func `whatever is left of a job tells the outbox from an empty folder`(file: String) throws {
    try unmount()
    #expect(try run().status == 73)
    let path = URL(fileURLWithPath: folders.outbox + "/first/" + file)
    try FileManager.default.createDirectory(at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("{}".utf8).write(to: path)
    try run().expect(status: 0)
  }

  @Test func `an inbox may be used with several outboxes, and each is known`() throws {
    let other = folders.folder.file("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    for outbox in [folders.outbox, other, folders.outbox, other] {
      #expect(try run(["--outbox", outbox]).status == 0)
    }
    try FileManager.default.removeItem(atPath: folders.outbox)
    try makeOutbox()
    #expect(try run().status == 73)
    #expect(try run(["--outbox", other]).status == 0)
  }
}
