import Foundation
import TestSupport
import Testing

/// `status` and `wait` are for every user who may read the outbox: an ordinary user asks about a service of another.
@Suite(.blocking, .enabled(if: TwoUsers.obstacle == nil, "needs two users: \(TwoUsers.obstacle ?? "")"))
struct StatusForOthersTests {
  private static let folders = "--inbox inbox --outbox outbox"

  @Test(arguments: [true, false])
  func `another user sees what runs, what was left, and how it ended`(mayReadInbox: Bool) throws {
    let users = try TwoUsers()
    #expect(chmod(users.folders.inbox, mayReadInbox ? 0o777 : 0o700) == 0)
    try users.drop("job.txt")
    try Data("backup".utf8).write(to: URL(fileURLWithPath: users.folders.inbox + "/x.lock"))
    let watch = try users.watch(["--verbose"])
    #expect(try watch.waitForLine(containing: "job: 1 entry") != nil)
    let running = try eventually(
      { try users.attack("./darkroom status \(Self.folders)") }, is: { $0.output.contains("job job: 0 of 1") })
    #expect(running.status == 0 && running.error.isEmpty, "\(running.error)")
    let lines = running.output.split(separator: "\n").dropFirst().map(String.init)
    #expect(lines.prefix(2) == ["process \(watch.processID) is running", "job job: 0 of 1"], "\(lines)")
    #expect(lines.contains { $0.hasPrefix("paused: x.lock (backup) since ") }, "\(lines)")
    let waiting = try users.attack("./darkroom wait --timeout 0.5 job \(Self.folders)")
    #expect(waiting.status == 75 && !waiting.error.contains("no instance"), "\(waiting.error)")

    try watch.kill()
    let left = try users.attack("./darkroom status \(Self.folders)")
    #expect(left.status == 0, "\(left.error)")
    let told = "no process is running\njob job: waiting for the next start, 0 of 1\n"
    #expect(left.output.contains(told), "\(left.output)")
    #expect(!left.output.contains("queued"), "\(left.output)")

    let wait = try DarkroomProcess(
      script: TwoUsers.attacker + " ./darkroom wait job \(Self.folders)", in: users.folders.folder)
    #expect(try wait.waitForLine(containing: "no instance is running") != nil)
    try FileManager.default.removeItem(atPath: users.folders.inbox + "/x.lock")
    #expect(try users.run().status == 0)
    let waited = try wait.finish().expect(status: 0)
    #expect(waited.output == users.folders.outbox + "/job/report.json\n")
    let ended = try users.attack("./darkroom status \(Self.folders)").output
    #expect(ended.contains("no process is running\nnothing to do\nended: job: succeeded, 1 of 1 filtered"), "\(ended)")
  }

  @Test func `a process that has the id of one that was killed is not taken for it`() throws {
    let users = try TwoUsers()
    try users.drop("job.txt")
    #expect(try users.run().status == 0)
    // This process is there, and was started at another time.
    let path = users.folders.outbox + "/.darkroom/status.json"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let other = text.replacing(/"process":[0-9]+/, with: "\"process\":\(getpid())")
    #expect(other != text && text.contains("\"process_start\":"), "\(text)")
    try other.write(toFile: path, atomically: false, encoding: .utf8)
    let status = try users.attack("./darkroom status \(Self.folders)")
    #expect(status.output.contains("no process is running"), "\(status.output)")
  }

  @Test func `a configuration file that this user may not read keeps nobody from asking`() throws {
    let users = try TwoUsers()
    let config = try users.folders.folder.makeFolder("config/darkroom") + "/config.json"
    try Data("{}".utf8).write(to: URL(fileURLWithPath: config))
    #expect(chmod(config, 0o600) == 0)
    try users.drop("job.txt")
    #expect(try users.run().status == 0)
    let darkroom = "env XDG_CONFIG_HOME=config ./darkroom"
    for command in ["status", "wait job"] {
      let run = try users.attack("\(darkroom) \(command) \(Self.folders)")
      #expect(run.status == 0, "\(run.error)")
      let warning = "darkroom: warning: config/darkroom/config.json: Permission denied (open); it is not used\n"
      #expect(run.error == warning)
    }
    // What it says may matter, or was asked for.
    for words in [
      "status --inbox inbox", "run \(Self.folders)", "status --config config/darkroom/config.json \(Self.folders)",
    ] {
      let run = try users.attack("\(darkroom) \(words)")
      #expect(run.status == 66 && run.error.contains("config.json: Permission denied"), "\(run.error)")
    }
  }

  @Test func `who may read nothing of it is told so`() throws {
    let users = try TwoUsers()
    try users.drop("job.txt")
    #expect(try users.run().status == 0)
    #expect(chmod(users.folders.outbox + "/.darkroom", 0o700) == 0)
    for command in ["status", "wait job"] {
      let run = try users.attack("./darkroom \(command) \(Self.folders)")
      #expect(run.status == 66 && run.error.contains("status.json: Permission denied"), "\(run.error)")
    }
  }
}
