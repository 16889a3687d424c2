import Foundation
import TestSupport
import Testing

/// Jobs that cannot begin or end: they are tried again, seen in `status`, and cost no other anything.
@Suite(.blocking) struct HeldJobTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private func waits() throws -> [[String: Any]] {
    let status = try folders.ask("status", ["--json"])
    #expect(try JSONSchema.violations(of: Data(status.output.utf8), name: "status.schema.json") == "")
    let object = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
    return object?["waits"] as? [[String: Any]] ?? []
  }

  /// Waits until `status` has as many jobs that wait.
  private func waitForWaits(_ count: Int) throws -> [[String: Any]] {
    try eventually(waits, is: { $0.count == count })
  }

  @Test func `a job with a file in its way begins when that is gone, and others do not wait for it`() throws {
    try Data().write(to: URL(fileURLWithPath: folders.outbox + "/a"))
    let watch = try folders.start("watch", ["--filters", "none"])
    try folders.drop("a.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "a.txt cannot be worked on now, and is tried again") != nil)
    let found = try waitForWaits(1)
    #expect(found.first?["job"] as? String == "a")
    #expect((found.first?["why"] as? String)?.contains("/a is a file, and is left as it is") == true, "\(found)")
    try folders.drop("b.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "b: succeeded") != nil)
    try FileManager.default.removeItem(atPath: folders.outbox + "/a")
    #expect(try watch.waitForLine(containing: "a: succeeded") != nil)
    #expect(try waitForWaits(0).isEmpty)
    let ended = try watch.stop()
    #expect(ended.error.matches(of: /cannot be worked on now/).count == 1, "it is said once: \(ended.error)")
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test func `between two starts status says what was in the way of a job that is left`() throws {
    try Data().write(to: URL(fileURLWithPath: folders.outbox + "/a"))
    try folders.drop("a.txt", "coffee.jpg\n")
    let run = try DarkroomProcess.run(["run", "--filters", "none"] + folders.options)
    #expect(run.status == 73 && run.error.contains("cannot be worked on now"), "\(run.error)")
    let found = try waits()
    #expect(found.count == 1 && found.first?["job"] as? String == "a", "\(found)")
    #expect((found.first?["why"] as? String)?.contains("/a is a file, and is left as it is") == true, "\(found)")
  }

  @Test(.disabled(if: ImmutableFolder.obstacle != nil, Comment(rawValue: ImmutableFolder.obstacle ?? "")))
  func `a report that cannot be placed is tried again, and holds back only manifests of its name`() throws {
    try FileManager.default.createDirectory(
      atPath: folders.outbox + "/a/report.json/x", withIntermediateDirectories: true)
    // An earlier run's report is moved to history; this one is nobody's report and comes between.
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let watch = try folders.start("watch", ["--filters", "none"])
    try folders.drop("a.txt", server.url("old") + "\n")
    _ = try server.nextRequest()
    try FileManager.default.createDirectory(
      atPath: folders.outbox + "/a/report.json/x", withIntermediateDirectories: true)
    // As long as the history cannot take it, it is in the way.
    let history = try ImmutableFolder(folders.outbox + "/a/history")
    try server.release(100)
    #expect(try watch.waitForLine(containing: "the report of job a cannot be worked on now, and is tried again") != nil)
    #expect(try waitForWaits(1).first?["job"] as? String == "a")
    try folders.drop("a.txt", server.url("new") + "\n")
    try folders.drop("b.txt", server.url("b") + "\n")
    #expect(try watch.waitForLine(containing: "b: succeeded") != nil)
    history.release()
    for _ in 0..<2 { #expect(try watch.waitForLine(containing: "a: succeeded") != nil) }
    try watch.stop()
    #expect(try folders.report("a").entries.map(\.name) == ["new"])
  }

  /// What is wrong with the job that an earlier process left.
  enum Damage: CaseIterable { case record, format, snapshot, contents, row }

  @Test(arguments: Damage.allCases)
  func `a job that cannot be read is set aside and told, the others go on, and its manifest is taken again`(
    damage: Damage
  ) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    for job in ["a", "b"] {
      try folders.drop("\(job).txt", server.url("\(job)1") + "\n" + server.url("\(job)2") + "\n")
    }
    let first = try folders.start("run", ["--filters", "none", "--per-host", "8"])
    for _ in 0..<4 { _ = try server.nextRequest() }
    try first.kill()
    try server.release(1000)
    let state = folders.outbox + "/.darkroom"
    let snapshots = try FileManager.default.contentsOfDirectory(atPath: state + "/jobs").filter { $0.hasSuffix(".txt") }
    let isOfA = { (name: String) in try String(contentsOfFile: state + "/jobs/" + name, encoding: .utf8).contains("/a1")
    }
    let snapshot = state + "/jobs/" + (try #require(try snapshots.first(where: isOfA)))
    switch damage {
    case .record: try AlteredLedger.alter(folders, "UPDATE jobs SET details = 'oops' WHERE name = 'a'")
    case .format:
      try AlteredLedger.alter(
        folders, "UPDATE jobs SET details = replace(details, '\"txt\"', '\"odd\"') WHERE name = 'a'")
    case .snapshot: try FileManager.default.removeItem(atPath: snapshot)
    case .contents: try Data("http://h/other\n".utf8).write(to: URL(fileURLWithPath: snapshot))
    case .row:
      try AlteredLedger.alter(
        folders,
        "INSERT INTO entries (run_id, position, ended, row) SELECT run_id, 0, 1, '{' FROM jobs WHERE name = 'a'")
      try AlteredLedger.alter(folders, "UPDATE jobs SET state = 'running'")
    }
    let second = try folders.run(["--filters", "none"]).expect(status: 73)
    #expect(second.error.contains("cannot be read and is set aside in \(state)/damaged/"), "\(second.error)")
    for job in ["a", "b"] {
      #expect(try folders.report(job).counts == Report.Counts(total: 2, filtered: 2), "\(second.error)")
    }
    let runID = try #require(try FileManager.default.contentsOfDirectory(atPath: state + "/damaged").first)
    #expect(FileManager.default.fileExists(atPath: state + "/damaged/\(runID)/record.json"))
    #expect(try folders.inboxNames().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: state + "/jobs").isEmpty)
    #expect(try folders.run(["--filters", "none"]).status == 0)
  }

  @Test func `an older run does not replace what a newer one delivered: it is superseded first`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("a.txt", server.url("x") + "\n" + server.url("y") + "\n")
    let first = try folders.start("run", ["--filters", "none"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    try first.kill()
    try server.release(1000)
    // A later run of the job is in the ledger, as after a run that was left to the next start.
    let state = folders.outbox + "/.darkroom"
    let snapshot = try #require(
      FileManager.default.contentsOfDirectory(atPath: state + "/jobs").first { $0.hasSuffix(".txt") })
    try FileManager.default.copyItem(
      atPath: state + "/jobs/" + snapshot, toPath: state + "/jobs/99990101T000000Z-aaaaaaaa.txt")
    try AlteredLedger.alter(
      folders,
      """
      INSERT INTO jobs (run_id, name, state, details, sequence)
      SELECT '99990101T000000Z-aaaaaaaa', name, 'running', details, sequence + 1 FROM jobs
      """)
    try AlteredLedger.alter(
      folders, "INSERT INTO named_runs (job, run_id, number, pages) VALUES ('a', '99990101T000000Z-aaaaaaaa', 0, 0)")
    // Both runs have the same file: when the older one has taken it out of the inbox it is not to count as removed.
    try folders.run(["--filters", "none", "--settle", "60"]).expect(status: 0)
    let report = try folders.report("a")
    #expect(report.counts == Report.Counts(total: 2, filtered: 2))
    #expect(!folders.exists("a/history"), "nothing had ended in it")
    #expect(try folders.inboxNames().isEmpty)
  }
}
