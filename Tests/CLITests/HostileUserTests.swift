import Foundation
import TestSupport
import Testing

/// Whoever may write to the inbox may have pictures made, and nothing else: an ordinary user against a service of another.
@Suite(.blocking, .enabled(if: TwoUsers.obstacle == nil, "needs two users: \(TwoUsers.obstacle ?? "")"))
struct HostileUserTests {
  static let attacks = [
    "ln -s $PWD/secret inbox/.darkroom-done",
    "ln -s $PWD/nothing inbox/.darkroom-done",
    "mkdir inbox/.darkroom-done; echo mine >inbox/.darkroom-done/mine.txt",
    "mkdir inbox/.darkroom-done; ln -s $PWD/secret/theirs.txt inbox/.darkroom-done/theirs.txt",
    "echo mine >inbox/.darkroom-done",
    "ln -s $PWD/secret/report.json inbox/.darkroom-instance",
    "ln -s $PWD/secret/new inbox/.darkroom-instance",
    "echo 1 >inbox/.darkroom-instance",
    "mkdir inbox/.darkroom-instance",
    "mkfifo inbox/.darkroom-instance",
    "ln -s $PWD/secret/report.json inbox/.darkroom-add-1; ln -s $PWD/secret/report.json inbox/x.lock.txt",
    "ln -s $PWD/secret/theirs.txt inbox/theirs.txt; ln -s $PWD/secret inbox/folder.json",
  ]

  @Test(arguments: attacks)
  func `the service starts and ends its jobs, and nothing outside inbox and outbox is changed`(attack: String) throws {
    let users = try TwoUsers()
    #expect(try users.attack(attack).status == 0)
    let before = try users.secret()
    try users.drop("good.txt")
    for _ in 0..<2 {
      let run = try users.run()
      // 73 when the manifest of a job that has ended cannot be moved.
      #expect([0, 73].contains(run.status), "\(run.error)")
      #expect(try users.folders.report("good").state == "succeeded", "\(run.error)")
      #expect(try users.secret() == before)
    }
    #expect(!users.folders.exists("good/history"), "nothing is done twice")
    #expect(!users.folders.exists("theirs") && !users.folders.exists("report") && !users.folders.exists("mine"))
  }

  @Test(arguments: attacks.prefix(6))
  func `so does one that is running`(attack: String) throws {
    let users = try TwoUsers()
    let before = try users.secret()
    let watch = try users.watch(["--verbose"])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    #expect(try users.attack("rm -rf inbox/.darkroom-*; " + attack).status == 0)
    for job in ["one", "two"] {
      try users.drop("\(job).txt")
      #expect(try watch.waitForLine(containing: "\(job): succeeded") != nil)
    }
    try watch.stop()
    #expect(try users.secret() == before)
  }

  @Test func `who may only read keeps no instance off, and who removes its file lets no second one in`() throws {
    let users = try TwoUsers()
    try users.run().expect(status: 0)
    #expect(try users.attack("cat inbox/.darkroom-instance").status != 0, "nobody but its owner may open it")
    #expect(try users.attack("cat outbox/.darkroom/instance").status != 0)
    let holder = try DarkroomProcess(
      script: TwoUsers.attacker + " /bin/bash -euc 'exec 9<inbox; flock 9; echo held >&2; exec sleep 600'",
      in: users.folders.folder)
    #expect(try holder.waitForLine(containing: "held") != nil)
    let watch = try users.watch(["--verbose"])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    #expect(try users.run(outbox: "other").status == 75)
    holder.send(SIGKILL)
  }

  @Test func `removing the file of a running instance lets no second one in, with another outbox either`() throws {
    let users = try TwoUsers()
    let watch = try users.watch(["--verbose"])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    for _ in 0..<3 {
      #expect(try users.attack("rm -f inbox/.darkroom-instance").status == 0)
      let second = try users.run(outbox: "other").expect(status: 75)
      #expect(second.error.contains("another instance owns"), "\(second.error)")
    }
    try watch.stop()
    #expect(try users.run(outbox: "other").status == 0)
  }
}
