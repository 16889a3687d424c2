import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct PauseTests {
  /// A manifest of pictures that a server answers only when it is let.
  private func manifest(_ server: GatedServer, count: Int) -> String {
    (0..<count).map { server.url("\($0).jpg") + "\n" }.joined()
  }

  private func create(_ path: String, _ contents: String = "") throws {
    try Data(contents.utf8).write(to: URL(fileURLWithPath: path))
  }

  @Test func `a folder is a lock, which resume removes when it is empty`() throws {
    let folders = try DarkroomFolders()
    let inbox = ["--inbox", folders.inbox]
    let lock = folders.inbox + "/deploy.lock"
    try FileManager.default.createDirectory(atPath: lock, withIntermediateDirectories: false)
    let paused = try DarkroomCommand.run(["pause", "deploy", "--reason", "why"] + inbox)
    #expect(paused.status == 0 && paused.error.contains("is a folder, which cannot hold a reason"), "\(paused.error)")
    try Data().write(to: URL(fileURLWithPath: lock + "/owner"))
    let full = try DarkroomCommand.run(["resume", "deploy"] + inbox)
    #expect(full.status == 73 && full.error.contains("\(lock) is a folder that is not empty"), "\(full.error)")
    try FileManager.default.removeItem(atPath: lock + "/owner")
    let resumed = try DarkroomCommand.run(["resume", "deploy"] + inbox)
    let told = "\(lock) was removed\nno instance is running\n"
    #expect(resumed.status == 0 && resumed.error == told, "\(resumed.error)")
    #expect(try folders.inboxNames() == [])
  }

  @Test func `pause keeps another party's reason, and says how to change it`() throws {
    let folders = try DarkroomFolders()
    func pause(_ reason: String) throws -> String {
      try DarkroomCommand.run(["pause", "x", "--reason", reason, "--inbox", folders.inbox]).expect(status: 0).error
    }
    let lock = folders.inbox + "/x.lock"
    #expect(try !pause("first").contains("keeps"))
    let told = try pause("second")
    #expect(told.contains("\(lock) keeps its reason, \"first\"; to change it, write another first line"), "\(told)")
    #expect(told.contains("already paused by \(lock)"))
    #expect(try String(contentsOfFile: lock, encoding: .utf8) == "first\n")
    #expect(try !pause("first").contains("keeps"))
  }

  /// The calls that change a folder or a file, and whether a lock is there already.
  static let killed = ["write", "linkat", "rename,renameat,renameat2", "unlink,unlinkat", "ftruncate"].flatMap {
    calls in
    [true, false].map { (calls, $0) }
  }

  @Test(arguments: killed)
  func `pause leaves nothing but the lock behind when it is killed`(calls: String, isThere: Bool) throws {
    let folder = try TemporaryFolder()
    let run = try DarkroomProcess.run(
      script: """
        mkdir inbox
        for number in 1 2; do
          rm -f inbox/* inbox/.[!.]*
          \(isThere ? "echo >inbox/x.lock" : ":")
          strace -f -o /dev/null -e trace=\(calls) -e inject=\(calls):signal=KILL:when=$number \\
            darkroom pause x --reason new --inbox inbox 2>/dev/null || true
          if ls -A inbox | grep -v '^x.lock$'; then exit 9; fi
          [[ ! -e inbox/x.lock ]] || grep -qE '^(|new)$' inbox/x.lock || exit 8
        done
        """, in: folder)
    #expect(run.status == 0, "\(run.output) \(run.error)")
  }

  @Test func `the hangup of its terminal does not end a run`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", server.url("a") + "\n")
    let run = try folders.start("run", ["--filters", "none"])
    #expect(try server.nextRequest() == "/a")
    run.send(SIGHUP)
    try server.release(1)
    try run.finish().expect(status: 0)
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test(arguments: ["pause.lock", "deploy.LOCK", ".hidden.lock", "lock", "LOCK"])
  func `with a lock at the start nothing is requested until it is gone`(lock: String) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try create(folders.inbox + "/" + lock, "until the backup is done\nsecond line")
    try folders.drop("job.txt", server.url("early") + "\n")
    let run = try folders.start("run", ["--filters", "none"])
    #expect(try run.waitForLine(containing: "paused:") != nil)
    #expect(try run.waitForLine(containing: "job: 1 entry") != nil)
    // Two more rounds, each told by the program; a request of the job would have come before.
    for other in ["a.lock", "b.lock"] {
      try create(folders.inbox + "/" + other)
      #expect(try run.waitForLine(containing: "paused: \(other)") != nil)
    }
    try server.note("late")
    #expect(try server.nextRequest() == "/late", "nothing was requested before")
    for name in ["a.lock", "b.lock", lock] { try FileManager.default.removeItem(atPath: folders.inbox + "/" + name) }
    #expect(try server.nextRequest() == "/early")
    try server.release(1)
    #expect(try run.finish().status == 0)
    let report = try folders.report("job")
    #expect(report.state == "succeeded")
    #expect(report.paused_s > 0)
    #expect(Set(report.pauses?.compactMap(\.lock) ?? []) == [lock, "a.lock", "b.lock"])
    let pause = report.pauses?.first { $0.lock == lock }
    #expect(pause?.cause == "lock")
    #expect(pause?.reason == "until the backup is done")
  }

  @Test func `many locks are one line of the log and one event, and status lists a thousand and counts the others`()
    throws
  {
    let folders = try DarkroomFolders()
    for number in 0..<1005 { try create(folders.inbox + "/\(number).lock") }
    func pauses() throws -> [Substring] {
      try folders.ask("status").expect(status: 0).output.split(separator: "\n").filter { $0.hasPrefix("paused: ") }
    }
    #expect(try pauses().count == 1001 && pauses().last == "paused: 5 more")
    #expect(try folders.statusText().contains(#""pauses_total":1005"#))
    let watch = try folders.start("watch", ["--json"])
    let names = "0.lock, 1.lock, 10.lock, 100.lock, 1000.lock and 1000 more"
    #expect(try watch.waitForLine(containing: "paused: " + names) != nil)
    let listed = try eventually(pauses, is: { $0.last == "paused: 5 more" })
    #expect(listed.count == 1001)
    let status = try folders.statusText()
    #expect(status.contains(#""running":true"#) && status.contains(#""pauses_total":1005"#))
    let ended = try watch.stop()
    #expect(ended.error.split(separator: "\n").count { $0.contains("paused: ") } == 1, "\(ended.error)")
    #expect(ended.output.contains(#""event":"paused""#) && ended.output.contains(#""cause":"lock","locks":1005"#))
    #expect(try JSONSchema.violations(of: Data(ended.output.utf8), name: "events.schema.json") == "")
  }

  @Test func `with a lock in the middle what runs finishes and nothing starts`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", manifest(server, count: 6))
    let run = try folders.start("run", ["--downloads", "2", "--filters", "none", "--verbose"])
    let running = Set([try server.nextRequest(), try server.nextRequest()])
    try create(folders.inbox + "/pause.lock")
    #expect(try run.waitForLine(containing: "paused: pause.lock") != nil)
    // Everything may be answered: the two that run are, and no other is asked for.
    try server.release(6)
    try create(folders.inbox + "/second.lock")
    #expect(try run.waitForLine(containing: "paused: second.lock") != nil)
    try FileManager.default.removeItem(atPath: folders.inbox + "/pause.lock")
    #expect(try run.waitForLine(containing: "still paused: second.lock") != nil)
    #expect(!folders.exists("job/report.json"))
    try FileManager.default.removeItem(atPath: folders.inbox + "/second.lock")
    #expect(try run.waitForLine(containing: "resumed") != nil)
    var later: Set<String> = []
    for _ in 0..<4 { later.insert(try server.nextRequest()) }
    #expect(later.isDisjoint(with: running))
    #expect(try run.finish().status == 0)
    let report = try folders.report("job")
    #expect(report.counts.filtered == 6)
    #expect(Set(report.pauses?.compactMap(\.lock) ?? []) == ["pause.lock", "second.lock"])
    #expect(report.entries.map(\.attempts) == Array(repeating: 1, count: 6))
  }

  @Test func `of a job that an earlier start left, status knows the rows, and the report the pauses before it goes on`()
    throws
  {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", manifest(server, count: 2))
    let options = ["--filters", "none", "--downloads", "1"]
    let first = try folders.start("run", options + ["--verbose"])
    _ = try server.nextRequest()
    try server.release(1)
    #expect(try first.waitForLine(containing: ": filtered") != nil)
    _ = try server.nextRequest()
    // What the next start knows before it has planned the job is this.
    _ = try eventually({ try folders.ask("status").output }, is: { $0.contains("job job: 1 of 2") })
    first.send(SIGTERM)
    #expect(try first.waitForLine(containing: "stopping") != nil)
    first.send(SIGTERM)
    _ = try first.finish()
    // Nothing is planned without space.
    let paused = try folders.start("run", options + ["--min-free", "100000G"])
    #expect(try paused.waitForLine(containing: "paused: disk") != nil)
    let status = try eventually({ try folders.ask("status").output }, is: { $0.contains("paused") })
    #expect(status.contains("job job: 1 of 2"), "\(status)")
    paused.send(SIGTERM)
    _ = try paused.finish()
    #expect(try folders.ask("status").output.contains("job job: waiting for the next start, 1 of 2"))
    try server.release(4)
    _ = try folders.start("run", options).finish().expect(status: 0)
    let report = try folders.report("job")
    #expect(report.pauses?.count { $0.cause == "disk" } == 1, "\(report)")
  }

  @Test func `a lock file anywhere is honoured, and one that cannot be examined counts as present`() throws {
    let folders = try DarkroomFolders()
    let loop = folders.folder.file("loop")
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try folders.run(["--lock-file", loop + "/x.lock", "--lock-wait", "0.2"]).expect(status: 75)
    #expect(run.error.contains("x.lock"))
    let path = folders.folder.file("named.txt")
    try create(path, "coffee.jpg\n")
    #expect(try folders.run([path, "--lock-file", loop + "/x.lock", "--lock-wait", "0"]).status == 75)
    #expect(try folders.inboxNames() == ["job.txt"])
    #expect(try folders.run().status == 0)
    #expect(
      try folders.run(["--lock-file", loop + "/x.lock", "--lock-wait", "0"]).status == 0, "there is nothing to do")
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test func `pause says that it was said before, that nothing runs, and that a job is not paused alone`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("cats.txt", "coffee.jpg\n")
    let path = "\(folders.inbox)/cats.lock"
    let none = "no instance is running; the next one waits until the lock is gone\n"
    let job = "cats is a job, and a lock pauses all jobs; \"darkroom cancel cats\" ends that one alone\n"
    #expect(try folders.ask("pause", ["cats"]).error == "paused by \(path)\n" + none + job)
    let watch = try folders.start("watch", ["--filters", "none"])
    #expect(try watch.waitForLine(containing: "paused: cats.lock") != nil)
    #expect(try folders.ask("pause", ["cats"]).error == "already paused by \(path)\n" + job)
    #expect(try folders.ask("resume", ["cats"]).error == "\(path) was removed\n")
    #expect(try watch.waitForLine(containing: "cats: succeeded") != nil)
    try watch.stop()
    #expect(try folders.ask("resume", ["cats"]).error == "\(path) did not exist\nno instance is running\n")
  }

  @Test(arguments: [
    (["Foo.LOCK"], "Foo", []), (["Foo.LOCK", "Foo.lock"], "Foo", ["Foo.LOCK"]),
    (["Foo.LOCK", "Foo.Lock"], "Foo", ["Foo.LOCK", "Foo.Lock"]), (["foo.LOCK"], "Foo", ["foo.LOCK"]),
    (["lock"], "lock", []), (["Foo.lock"], "Foo.LOCK", []),
  ])
  func `resume finds a lock whose ending is in another case, and names what still pauses`(
    locks: [String], name: String, left: [String]
  ) throws {
    let folders = try DarkroomFolders()
    for lock in locks { try create(folders.inbox + "/" + lock) }
    let run = try DarkroomCommand.run(["resume", name, "--inbox", folders.inbox]).expect(status: 0)
    #expect(try folders.inboxNames() == left)
    #expect(run.error.contains("was removed") == (left.count < locks.count), "\(run.error)")
    #expect(left.isEmpty || run.error.hasSuffix("still paused by \(left.joined(separator: ", "))\n"), "\(run.error)")
  }

  @Test func `resume says whether its lock was there, and names the others`() throws {
    let folders = try DarkroomFolders()
    let inbox = ["--inbox", folders.inbox]
    for (name, reason) in [("backup.lock", "nightly backup\n"), ("deploy.LOCK", "")] {
      try create(folders.inbox + "/" + name, reason)
    }
    #expect(try DarkroomCommand.run(["resume", "../x"] + inbox).status == 64)
    let others = "still paused by backup.lock (nightly backup), deploy.LOCK\n"
    let typo = try DarkroomCommand.run(["resume", "bakup"] + inbox).expect(status: 0)
    #expect(typo.error == "\(folders.inbox)/bakup.lock did not exist\n" + others)
    #expect(try DarkroomCommand.run(["pause"] + inbox).status == 0)
    #expect(try DarkroomCommand.run(["resume"] + inbox).error == "\(folders.inbox)/pause.lock was removed\n" + others)
    let elsewhere = folders.folder.file("elsewhere")
    try create(elsewhere, "deployment")
    for name in ["backup", "deploy.LOCK"] { _ = try DarkroomCommand.run(["resume", name] + inbox) }
    #expect(try folders.inboxNames().isEmpty)
    let more = try DarkroomCommand.run(["resume", "--lock-file", elsewhere] + inbox)
    #expect(more.error.hasSuffix("still paused by \(elsewhere) (deployment)\n"))
  }
}
