import Foundation
import TestSupport
import Testing

/// What an outbox may suffer from others while the program is at work.
@Suite(.blocking) struct OutboxTroubleTests {
  @Test(arguments: [false, true])
  func `watch ends with 73 when its outbox is removed or replaced, and the next start does the rest`(
    isReplaced: Bool
  ) throws {
    let folders = try DarkroomFolders()
    let watch = try folders.start("watch", ["--filters", "none", "--verbose"])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    try FileManager.default.moveItem(atPath: folders.outbox, toPath: folders.folder.file("moved"))
    if isReplaced {
      try FileManager.default.createDirectory(atPath: folders.outbox, withIntermediateDirectories: false)
    }
    let ended = try watch.finish()
    #expect(ended.status == 73)
    #expect(ended.error.contains("\(folders.outbox): the outbox was removed or replaced"), "\(ended.error)")
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none", "--create"]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test func `watch ends with 73 when its outbox goes in the middle of a job`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    try FileManager.default.moveItem(atPath: folders.outbox, toPath: folders.folder.file("moved"))
    try server.release(10)
    let ended = try watch.finish()
    #expect(ended.status == 73)
    #expect(ended.error.contains("the outbox was removed or replaced"), "\(ended.error)")
    #expect(try folders.inboxNames() == ["job.txt"])
    // The share is mounted again: everything is as it was.
    try FileManager.default.moveItem(atPath: folders.folder.file("moved"), toPath: folders.outbox)
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
  }

  @Test(.disabled(if: Sanitizer.isThread, "it dies of the limit"))
  func `a limit on the size of files fails the entries that are larger, and kills nothing`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nchelsea.jpg\n")
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    // In KiB: the ledger fits, chelsea.jpg (31 KiB) too, coffee.jpg (63 KiB) does not.
    let limited = try DarkroomProcess.run(script: "ulimit -f 56; darkroom \(words)", in: folders.folder)
    #expect(limited.status == 1, "\(limited.error)")
    let report = try folders.report("job")
    #expect(report.entries.map { $0.error?.code } == ["io", nil])
    #expect(report.entries[0].error?.message.contains("File too large") == true)
    #expect(try folders.staged().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/job/images") == ["chelsea.jpg"])
  }

  @Test(.disabled(if: Sanitizer.isThread, "it dies of the limit"))
  func `a limit that the ledger does not fit in ends with 73, and the next run does everything`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let limited = try DarkroomProcess.run(script: "ulimit -f 8; darkroom \(words)", in: folders.folder)
    #expect(limited.status == 73)
    #expect(limited.error.contains("ledger.sqlite"), "\(limited.error)")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }
}
