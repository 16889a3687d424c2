import Foundation
import TestSupport
import Testing

/// What cron mails is what stands on standard error of `run --quiet`.
@Suite(.blocking) struct CronTests {
  @Test(arguments: [("coffee.jpg\n", ""), ("missing.jpg\n", "job: failed: 0 filtered, 1 failed")])
  func `only what is wrong is told`(manifest: String, expected: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", manifest)
    let run = try folders.run(["--quiet", "--filters", "none"])
    #expect(expected.isEmpty || run.error.contains(expected), "\(run.error)")
    #expect(run.error.isEmpty == expected.isEmpty, "\(run.error)")
  }

  @Test func `a run that finds another at work ends with 75 and tells so, but with --quiet only if work was given`()
    throws
  {
    let (folders, other) = (try DarkroomFolders(), try DarkroomFolders())
    try folders.drop("pause.lock", "")
    let first = try folders.start("watch")
    #expect(try first.waitForLine(containing: "paused") != nil)
    let busy = "another instance owns"
    let quiet = try folders.run(["--quiet"])
    #expect(quiet.status == 75 && quiet.error.isEmpty, "\(quiet.error)")
    let manifest = folders.folder.file("job.txt")
    try "coffee.jpg\n".write(toFile: manifest, atomically: false, encoding: .utf8)
    for more in [[], ["--quiet", manifest], ["--quiet", "--inbox", other.inbox]] {
      let run = try folders.run(more)
      #expect(run.status == 75 && run.error.contains(busy), "\(more): \(run.error)")
      let hint =
        "\nnot accepted; for a running \"watch\" or the next start: darkroom add --inbox \(folders.inbox)"
      #expect(run.error.contains(hint) == more.contains(manifest), "\(more): \(run.error)")
    }
    let elsewhere = try folders.run(["--inbox", other.inbox, manifest]).expect(status: 75)
    #expect(
      elsewhere.error.contains("\nnot accepted; for the next start: darkroom add --inbox \(other.inbox)"),
      "\(elsewhere.error)")
    let missing = try folders.run([folders.folder.file("missing.txt")]).expect(status: 66)
    #expect(missing.error.contains("missing.txt: No such file") && !missing.error.contains("add"), "\(missing.error)")
    try folders.drop("dropped.txt", "coffee.jpg\n")
    let dropped = try folders.run([folders.inbox + "/dropped.txt"]).expect(status: 75)
    #expect(
      dropped.error.contains("dropped.txt is in the inbox already, for a running \"watch\" or the next start\n"),
      "\(dropped.error)")
    try first.stop()
  }

  @Test func `a warning about a manifest is mailed once, and again when it is another`() throws {
    let folders = try DarkroomFolders()
    func mail(_ columns: String) throws -> String {
      try folders.drop("job.csv", "url,\(columns)\ncoffee.jpg,grayscale()\n")
      return try folders.run(["--quiet", "--filters", "none"]).expect(status: 0).error
    }
    #expect(try mail("Filter").contains("job: warning: "))
    #expect(try mail("Filter").isEmpty)
    #expect(try mail("Filers").contains("job: warning: "))
  }

  @Test func `so is a folder without files`() throws {
    let folders = try DarkroomFolders()
    try folders.folder.makeFolder("pictures")
    func mail() throws -> String {
      try folders.drop("job.json", #"{ "source": "file:\#(folders.folder.file("pictures"))/" }"#)
      return try folders.run(["--quiet", "--file-root", folders.folder.file("pictures")]).expect(status: 0).error
    }
    #expect(try mail().contains("has no pictures"))
    #expect(try mail().isEmpty)
  }

  @Test func `a lock is mailed once, and another one anew`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    func mail() throws -> String {
      try folders.run(["--quiet", "--lock-wait", "0.1"]).expect(status: 75).error
    }
    try folders.drop("backup.lock", "")
    #expect(try mail().contains("by backup.lock"))
    #expect(try mail().isEmpty)
    try folders.drop("deploy.lock", "")
    #expect(try mail().contains("deploy.lock"))
    try FileManager.default.removeItem(atPath: folders.inbox + "/deploy.lock")
    #expect(try mail().isEmpty)
    try folders.drop("backup.lock", "until noon")
    #expect(try mail().contains("by backup.lock (until noon)"))
  }

  @Test(arguments: [false, true])
  func `so is a file of --lock-file, also one that is relative to the current folder`(isRelative: Bool) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    let path = folders.folder.file("night.lck")
    try Data().write(to: URL(fileURLWithPath: path))
    let lock = ["--quiet", "--lock-wait", "0.1", "--lock-file", isRelative ? "night.lck" : path]
    func mail() throws -> String {
      try DarkroomProcess.run(["run"] + folders.options + lock, in: folders.folder).expect(status: 75).error
    }
    #expect(try mail().contains("night.lck"))
    #expect(try mail().isEmpty)
    try Data("until noon".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try mail().contains("night.lck (until noon)"))
  }

  @Test func `a list without entries fails with --fail-empty, also for who waits`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "")
    let run = try folders.run(["--quiet", "--fail-empty"]).expect(status: 1)
    #expect(run.error.contains("job: warning: the manifest has no entries"))
    let wait = { (more: [String]) in try DarkroomProcess.run(["wait", "job"] + folders.named + more) }
    try wait(["--fail-empty"]).expect(status: 1)
    try wait([]).expect(status: 0)
    try folders.drop("job.txt", "")
    try folders.run(["--quiet"]).expect(status: 0)
  }

  @Test func `a file that is no manifest is told once, and again when it has changed`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("notes.docx", "")
    func told() throws -> String {
      let run = try folders.run(["--quiet"]).expect(status: 0)
      return run.error
    }
    #expect(try told().contains("notes.docx in the inbox is ignored"))
    #expect(try told().isEmpty)
    try folders.drop("table.xlsx", "")
    let new = try told()
    #expect(new.contains("table.xlsx in the inbox is ignored") && !new.contains("notes"), "\(new)")
    try folders.drop("notes.docx", "more")
    #expect(try told().contains("notes.docx in the inbox is ignored"))
    #expect(try told().isEmpty)
    let status = try folders.ask("status").output
    #expect(status.contains("ignored: notes.docx") && status.contains("ignored: table.xlsx"), "\(status)")
  }

  @Test func `a lock that outlasts --lock-wait is told, with its reason, and so is a file that is no manifest`() throws
  {
    let folders = try DarkroomFolders()
    try folders.drop("notes.docx", "")
    try folders.drop("backup.lock", "nightly backup\n")
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try folders.run(["--quiet", "--lock-wait", "0"]).expect(status: 75)
    #expect(run.error.contains("backup.lock") && run.error.contains("nightly backup"), "\(run.error)")
    #expect(run.error.contains("notes.docx in the inbox is ignored"), "\(run.error)")
    #expect(run.error.split(separator: "\n").count == 2, "\(run.error)")
  }

  @Test(arguments: ["echo coffee.jpg |", ": |", "</dev/null", "echo coffee.jpg >list; <list"])
  func `a list that is piped into run without a dash is not lost in silence`(input: String) throws {
    let folders = try DarkroomFolders()
    let command = "darkroom run --quiet " + folders.options.joined(separator: " ")
    let parts = input.split(separator: ";").map(String.init)
    let script = (parts.dropLast() + [(parts.last ?? "") + " " + command]).joined(separator: "\n")
    let run = try DarkroomProcess.run(script: script, in: folders.folder).expect(status: 0)
    #expect(run.error.contains("standard input was not read") == input.hasPrefix("echo coffee.jpg |"), "\(run.error)")
  }
}
