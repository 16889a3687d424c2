import Foundation
import TestSupport
import Testing

/// What an outbox may suffer from others while the program is at work.
@Suite(.blocking) struct OutboxTroubleTests {
  @Test func `watch ends with 73 when another outbox stands in the place of its own, and the next start does the rest`()
    throws
  {
    let folders = try DarkroomFolders()
    let watch = try folders.watch(["--filters", "none", "--verbose"])
    let other = folders.folder.file("other")
    try FileManager.default.createDirectory(atPath: other + "/.darkroom", withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: folders.outbox, toPath: folders.folder.file("moved"))
    try FileManager.default.moveItem(atPath: other, toPath: folders.outbox)
    let ended = try watch.finish().expect(status: 73)
    #expect(ended.error.contains("\(folders.outbox): the outbox was replaced"), "\(ended.error)")
    let status = try folders.ask("status").output
    #expect(status.contains("no process is running\njobs that have not ended are not known: "), "\(status)")
    #expect(status.contains("Nothing is lost") && !status.contains("nothing to do"), "\(status)")
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 73)
    #expect(try folders.run(["--filters", "none", "--create"]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }

  /// As while a share is not mounted: nothing is there, or an empty folder.
  @Test(arguments: [false, true])
  func `watch waits while its outbox is gone in the middle of a job, makes nothing in its place, and then goes on`(
    hasMountPoint: Bool
  ) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let moved = folders.folder.file("moved")
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let watch = try folders.start("watch", ["--filters", "none"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    try FileManager.default.moveItem(atPath: folders.outbox, toPath: moved)
    if hasMountPoint {
      try FileManager.default.createDirectory(atPath: folders.outbox, withIntermediateDirectories: false)
    }
    try server.release(100)
    let paused = try watch.waitForLine(containing: "paused: disk (")
    let told = "\(folders.outbox): the outbox was removed, or is not mounted; nothing is lost"
    #expect(paused?.contains(told) == true, "\(paused ?? "")")
    #expect(try folders.inboxNames() == ["job.txt"])
    let status = try folders.ask("status")
    if hasMountPoint {
      let missing = "\(folders.outbox): the outbox that was used with this inbox is not here. Is the outbox mounted?"
      #expect(status.status == 0 && status.output.contains(missing), "\(status.output) \(status.error)")
      #expect(status.output.contains("process \(watch.processID) is running"), "\(status.output)")
      #expect(!status.output.contains("nothing to do"), "\(status.output)")
      try folders.statusText()
      try folders.ask("wait", ["job", "--timeout", "0.1"]).expect(status: 75)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox).isEmpty)
      try FileManager.default.removeItem(atPath: folders.outbox)
    } else {
      #expect(!FileManager.default.fileExists(atPath: folders.outbox))
      #expect(status.status == 66 && status.error.contains("is it mounted?"), "\(status.error)")
    }
    try FileManager.default.moveItem(atPath: moved, toPath: folders.outbox)
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    try watch.stop()
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
  }

  @Test func `a ledger that is removed from its folder does not come back, and ends watch with 73`() throws {
    let folders = try DarkroomFolders()
    let watch = try folders.watch(["--filters", "none", "--state", folders.folder.file("state"), "--create"])
    try FileManager.default.removeItem(atPath: folders.folder.file("state/ledger.sqlite"))
    let ended = try watch.finish().expect(status: 73)
    #expect(ended.error.contains("ledger.sqlite: the ledger was removed"), "\(ended.error)")
  }

  @Test(arguments: [true, false])
  func `watch waits while the folder of its ledger is gone, and ends with 73 when another has its path`(
    isReplaced: Bool
  ) throws {
    let folders = try DarkroomFolders()
    let (path, moved) = (folders.folder.file("state"), folders.folder.file("moved"))
    let watch = try folders.watch(["--filters", "none", "--state", folders.folder.file("state"), "--create"])
    try FileManager.default.moveItem(atPath: path, toPath: moved)
    let paused = try watch.waitForLine(containing: "paused: disk (")
    #expect(paused?.contains("the ledger was removed") == true, "\(paused ?? "")")
    if isReplaced {
      try FileManager.default.copyItem(atPath: moved, toPath: path)
      let ended = try watch.finish().expect(status: 73)
      #expect(ended.error.contains("the ledger was replaced"), "\(ended.error)")
    } else {
      try FileManager.default.moveItem(atPath: moved, toPath: path)
      try folders.drop("job.txt", "coffee.jpg\n")
      #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
      try watch.stop()
    }
  }

  @Test func `a running instance is known also when its default outbox is missing`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let home = try TemporaryFolder()
    for name in ["inbox", "outbox"] { try home.makeFolder(name) }
    try home.write(server.url("a") + "\n", as: "inbox/job.txt")
    let watch = try DarkroomProcess(
      ["watch", "--filters", "none", "--verbose", "--allow-net", "127.0.0.0/8"], in: home)
    _ = try server.nextRequest()
    try FileManager.default.moveItem(atPath: home.file("outbox"), toPath: home.file("away"))
    let status = try DarkroomProcess.run(["status"], in: home).expect(status: 0).output
    #expect(status.contains("process \(watch.processID) is running"), "\(status)")
    #expect(status.contains("is not here. Is the outbox mounted? Nothing is lost"), "\(status)")
    let wait = try DarkroomProcess.run(["wait", "job", "--timeout", "0.1"], in: home).expect(status: 75)
    #expect(!wait.error.contains("no instance is running"), "\(wait.error)")
    #expect(try DarkroomProcess.run(["cancel", "job"], in: home).expect(status: 0).error == "cancelling job\n")
    #expect(!FileManager.default.fileExists(atPath: home.file("outbox")))
    try FileManager.default.moveItem(atPath: home.file("away"), toPath: home.file("outbox"))
    #expect(try watch.waitForLine(containing: "job: cancelled") != nil)
    try watch.stop()
  }

  @Test func `a start whose outbox is not mounted does not take what was being delivered for taken away`() throws {
    let folders = try DarkroomFolders()
    let moved = folders.folder.file("moved")
    let options = ["--filters", "none", "--state", folders.folder.file("state"), "--create"]
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    _ = try folders.run(options, injecting: "renameat2:signal=KILL:when=1")
    try FileManager.default.moveItem(atPath: folders.outbox, toPath: moved)
    try FileManager.default.createDirectory(atPath: folders.outbox, withIntermediateDirectories: false)
    let early = try folders.run(options).expect(status: 73)
    #expect(early.error.contains("is the outbox mounted?"), "\(early.error)")
    try FileManager.default.removeItem(atPath: folders.outbox)
    try FileManager.default.moveItem(atPath: moved, toPath: folders.outbox)
    try folders.run(options).expect(status: 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
    for name in ["coffee.jpg", "rocket.jpg"] { #expect(folders.exists("job/images/" + name)) }
  }

  /// After a crash between the record that results are about to be delivered and their delivery.
  @Test(arguments: ["the outbox", "both folders"])
  func `results that wait are delivered after a crash, wherever the folders have been moved`(moved: String) throws {
    let folders = try DarkroomFolders()
    let home = folders.folder.file("home")
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    _ = try folders.run(["--filters", "none"], injecting: "renameat2:signal=KILL:when=1")
    #expect(try folders.staged().contains { $0.hasSuffix(".result") })
    var options = folders.options
    for name in moved == "both folders" ? ["outbox", "inbox"] : ["outbox"] {
      try FileManager.default.moveItem(atPath: folders.folder.file(name), toPath: home + "/" + name)
      options = options.map { $0 == folders.folder.file(name) ? home + "/" + name : $0 }
    }
    try DarkroomProcess.run(["run", "--filters", "none"] + options).expect(status: 0)
    for name in ["coffee.jpg", "rocket.jpg"] {
      #expect(FileManager.default.fileExists(atPath: home + "/outbox/job/images/" + name), "\(name)")
    }
  }

  /// As the state folder is recorded with another outbox.
  @Test func `results that were lost with their staging folder are made again when the folder is created`() throws {
    let folders = try DarkroomFolders()
    let options = ["--filters", "none", "--state", folders.folder.file("state")]
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    _ = try folders.run(options + ["--create"], injecting: "renameat2:signal=KILL:when=1")
    try FileManager.default.removeItem(atPath: folders.outbox + "/.darkroom/staging")
    let told = try folders.run(options).expect(status: 73).error
    let path = try #require(told.firstMatch(of: #/(/\S*/staging/[0-9a-f-]+): the folder is missing/#)?.1)
    try FileManager.default.createDirectory(atPath: String(path), withIntermediateDirectories: true)
    let again = try folders.run(options).expect(status: 0)
    #expect(again.error.contains("that waited to be delivered are lost, and made again"), "\(again.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
    for name in ["coffee.jpg", "rocket.jpg"] { #expect(folders.exists("job/images/" + name), "\(name)") }
  }

  @Test(.disabled(if: Sanitizer.isThread, "it dies of the limit"))
  func `a limit that the ledger does not fit in ends with 73, and the next run does everything`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    let limited = try DarkroomProcess.run(
      script: "ulimit -f 16; \(folders.line("run", ["--filters", "none"]))", in: folders.folder
    ).expect(status: 73)
    #expect(limited.error.contains("ledger.sqlite") && limited.error.contains("File too large"), "\(limited.error)")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("job").state == "succeeded")
  }
}
