import Foundation
import TestSupport
import Testing

/// The wall clock is set while the program runs. What is measured is not affected.
@Suite(.blocking, .disabled(if: Sanitizer.isThread)) struct ClockTests {
  private static let days: Int64 = 3 * 86_400
  private static let options = ["--filters", "none", "--lock-wait", "3600"]

  private func start(_ folders: DarkroomFolders, _ clock: MovedClock, _ more: [String] = options) throws
    -> DarkroomProcess
  {
    try DarkroomProcess(["run"] + folders.options + more, environment: clock.environment)
  }

  private func create(_ name: String, in folders: DarkroomFolders) throws {
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/" + name))
  }

  @Test(arguments: [-days, days])
  func `durations, pauses and --lock-wait do not follow a clock that is set`(offset: Int64) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let (folders, clock) = (try DarkroomFolders(), try MovedClock())
    try folders.drop("job.txt", server.url("a.jpg") + "\n")
    let run = try start(folders, clock)
    #expect(try server.nextRequest() == "/a.jpg")
    try create("first.lock", in: folders)
    #expect(try run.waitForLine(containing: "paused: first.lock") != nil)
    try server.release(1)
    try clock.set(offset)
    // Rounds of the loop after the clock was set.
    for name in ["second.lock", "third.lock"] {
      try create(name, in: folders)
      #expect(try run.waitForLine(containing: "paused: \(name)") != nil)
    }
    for name in try folders.inboxNames() where name.hasSuffix(".lock") {
      try FileManager.default.removeItem(atPath: folders.inbox + "/" + name)
    }
    try run.finish().expect(status: 0)
    let report = try folders.report("job")
    #expect((0..<3600).contains(report.duration_s), "\(report.duration_s)")
    #expect(report.paused_s > 0 && report.paused_s <= report.duration_s, "\(report.paused_s)")
    #expect(report.started_at <= report.finished_at, "\(report.started_at) to \(report.finished_at)")
  }

  @Test func `--lock-wait runs out although the clock was set back`() throws {
    let (folders, clock) = (try DarkroomFolders(), try MovedClock())
    try folders.drop("job.txt", "coffee.jpg\n")
    try create("a.lock", in: folders)
    let run = try start(folders, clock, ["--filters", "none", "--lock-wait", "2"])
    #expect(try run.waitForLine(containing: "paused: a.lock") != nil)
    try clock.set(-Self.days)
    #expect(try run.finish().status == 75)
  }

  @Test func `a run that went on after a restart with the clock set back takes no less than nothing`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let (folders, clock) = (try DarkroomFolders(), try MovedClock())
    try folders.drop("job.txt", server.url("a.jpg") + "\n")
    let first = try start(folders, clock)
    #expect(try server.nextRequest() == "/a.jpg")
    try first.kill()
    try clock.set(-Self.days)
    try server.release(100)
    #expect(try start(folders, clock).finish().status == 0)
    #expect((0..<3600).contains(try folders.report("job").duration_s))
  }

  @Test func `runs after the clock was set back count as later ones`() throws {
    let (folders, clock) = (try DarkroomFolders(), try MovedClock())
    let history = folders.outbox + "/job/history"
    func run() throws -> String {
      try folders.drop("job.json", "[\"coffee.jpg\"]")
      let words = ["run"] + folders.named + folders.options + ["--filters", "none", "--keep-history", "1"]
      try DarkroomProcess.run(words, in: folders.folder, environment: clock.environment).expect(status: 0)
      return try folders.report("job").run_id
    }
    try clock.set(10 * 86_400)
    let ahead = try [run(), run()]
    try clock.set(0)
    let later = try [run(), run(), run()]
    #expect(ahead + later == (ahead + later).sorted())
    // What was put aside within a minute stays.
    #expect(Set(try FileManager.default.contentsOfDirectory(atPath: history)).isSuperset(of: later.prefix(2)))
    for run in try FileManager.default.contentsOfDirectory(atPath: history) {
      try FileManager.default.setAttributes([.modificationDate: Date() - 120], ofItemAtPath: history + "/" + run)
    }
    let last = try run()
    #expect(last > later[2])
    #expect(try FileManager.default.contentsOfDirectory(atPath: history) == [later[2]])
  }
}
