import Foundation
import System
import TestSupport
import Testing

/// The program is killed in the middle of a job, or ends, 8 random bytes are written into its ledger, and it is started again.
@Suite(.blocking) struct DamagedLedgerTests {
  private static let count = 120

  /// How often it is damaged, each time in another way.
  private static let damages: UInt64 = 40
  private static let names = ["coffee.jpg", "chelsea-small.png", "rocket.jpg"]

  @Test(arguments: [true, false])
  func `8 random bytes in the ledger never give a wrong report`(isKilled: Bool) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let lines = (0..<Self.count).map { #"{"url":"\#(Self.names[$0 % 3])","name":"picture \#($0)"}"# + "\n" }
    try folders.drop("job.jsonl", lines.joined() + #"{"url":"\#(server.url("last"))","name":"last"}"# + "\n")
    let first = try folders.start("run", ["--verbose", "--filters", "none"])
    for _ in 0..<Self.count { #expect(try first.waitForLine(containing: ": filtered") != nil) }
    _ = try server.nextRequest()
    let manifest = try Data(contentsOf: URL(fileURLWithPath: folders.inbox + "/job.jsonl"))
    if isKilled { first.send(SIGKILL) } else { try server.release(1) }
    _ = try first.finish()
    try server.release(10_000)

    let template = folders.folder.file("template")
    try FileManager.default.moveItem(atPath: folders.outbox, toPath: template)
    var (found, rows) = (0, 0)
    for seed in UInt64(0)..<Self.damages {
      try folders.drop("job.jsonl", manifest)
      try FileManager.default.copyItem(atPath: template, toPath: folders.outbox)
      try DamagedFile.overwrite(folders.outbox + "/.darkroom/ledger.sqlite", seed: seed)
      let run = try folders.run(["--filters", "none"])
      #expect(run.status == 0, "seed \(seed): \(run.error)")
      if run.error.contains("the ledger was damaged") {
        found += 1
        #expect(folders.exists(".darkroom/damaged"), "seed \(seed)")
      }
      rows += try check(folders, "seed \(seed): \(run.error)")
      try FileManager.default.removeItem(atPath: folders.outbox)
    }
    // Whatever is not noticed hit bytes that nothing is read from; after a clean end only rows that are needed are read.
    #expect(found > (isKilled ? 8 : 0))
    #expect(rows == Int(Self.damages) * (Self.count + 1))
  }

  @Test func `status says that a file that is no database is damaged, and what becomes of it`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("a.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none"]).expect(status: 0)
    try Data("garbage\n".utf8).write(to: URL(fileURLWithPath: folders.outbox + "/.darkroom/ledger.sqlite"))
    let status = try folders.statusText()
    #expect(status.contains("is damaged") && status.contains("The next start sets it aside"), "\(status)")
    try folders.run().expect(status: 0)
    #expect(try !folders.statusText().contains("damaged"))
  }

  /// Expects a report that is right.
  /// - Returns: How many rows it has.
  private func check(_ folders: DarkroomFolders, _ comment: Comment) throws -> Int {
    let report = try folders.report("job")
    #expect(report.state == "succeeded", comment)
    #expect(report.counts.total == Self.count + 1 && report.counts.filtered == Self.count + 1, comment)
    #expect(report.entries.map(\.name) == (0..<Self.count).map { "picture \($0)" } + ["last"], comment)
    for (index, row) in report.entries.enumerated() {
      let output = try #require(row.output, comment)
      let source = index < Self.count ? Self.names[index % 3] : "coffee.jpg"
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folders.outbox + "/job/" + output.file))
      #expect(try MessageDigest.hexDigest(ofDescriptor: file.fileDescriptor) == output.sha256, comment)
      #expect(row.url.hasSuffix(index < Self.count ? source : "/last"), comment)
      try file.close()
    }
    #expect(try folders.inboxNames().isEmpty, comment)
    #expect(try folders.staged().isEmpty, comment)
    return report.entries.count
  }

  @Test(arguments: ["no database at all", ""])
  func `a ledger that is lost altogether is made again from reports`(contents: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nmissing.jpg\n")
    #expect(try folders.run().status == 1)
    let ledger = folders.outbox + "/.darkroom/ledger.sqlite"
    try Data((contents + String(repeating: "x", count: 4096)).utf8).write(to: URL(fileURLWithPath: ledger))
    // Other bytes are to replace what the lost ledger knew to be ours; what failed did so before.
    try folders.drop("job.txt", "coffee.jpg\nmissing.jpg\n")
    let again = try folders.run(["--quality", "30"])
    #expect(again.status == 1 && again.error.contains("the ledger was damaged"), "\(again.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 2, filtered: 1, failed: 1))
    #expect(report.entries.last?.error?.code == "file-not-found" && report.entries.last?.error?.runs == 2)
    #expect(try !folders.run().error.contains("damaged"), "it is said once")
  }

  @Test(arguments: [false, true])
  func `a ledger restored from a dump is the ledger that it was, and nobody else's to read`(isOfLiveJob: Bool) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.jsonl", #"{"url":"coffee.jpg"}"# + "\n" + #"{"url":"\#(server.url("last"))"}"# + "\n")
    let first = try folders.start("run", ["--verbose"])
    #expect(try first.waitForLine(containing: "coffee: filtered") != nil)
    if isOfLiveJob { first.send(SIGKILL) } else { try server.release(1) }
    _ = try first.finish()
    try server.release(10)
    let restore = """
      import os, sqlite3, sys
      old, new = sqlite3.connect(sys.argv[1]), sqlite3.connect(sys.argv[1] + "-restored")
      new.executescript("\\n".join(old.iterdump()))
      new.commit()
      os.chmod(sys.argv[1] + "-restored", 0o644)
      os.rename(sys.argv[1] + "-restored", sys.argv[1])
      """
    let ledger = folders.outbox + "/.darkroom/ledger.sqlite"
    try DarkroomProcess.run(script: "/usr/bin/python3 -c '\(restore)' '\(ledger)'", in: folders.folder).expect(
      status: 0)
    if !isOfLiveJob { try folders.drop("job.jsonl", folders.contents("job/manifest.jsonl")) }
    let again = try folders.run().expect(status: 0)
    #expect(!again.error.contains("damaged"), "\(again.error)")
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 2, filtered: 2, reused: isOfLiveJob ? 0 : 2), "\(report)")
    #expect(try folders.mode(".darkroom/ledger.sqlite") == 0o600)
  }

  @Test func `status tells of a damaged ledger, and changes nothing`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try folders.run().status == 0)
    let ledger = folders.outbox + "/.darkroom/ledger.sqlite"
    let mark = folders.outbox + "/.darkroom/in-use"
    #expect(!FileManager.default.fileExists(atPath: mark), "it ended cleanly")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: ledger))
    bytes.replaceSubrange(100..<300, with: Data(repeating: 0x55, count: 200))
    try bytes.write(to: URL(fileURLWithPath: ledger))
    let status = try folders.ask("status")
    #expect((status.output + status.error).contains(ledger), "\(status.output)\(status.error)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: ledger)) == bytes)
    #expect(!folders.exists(".darkroom/damaged"))
  }

  /// After a clean end the start does not check the ledger.
  @Test(arguments: ["jobs", "last_runs", "outputs", "names"])
  func `damage that is found after a clean start is repaired in the same run`(table: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none"]).expect(status: 0)
    let script = """
      import sqlite3, sys
      path = sys.argv[1] + "/.darkroom/ledger.sqlite"
      with sqlite3.connect(path) as database:
          size, = database.execute("PRAGMA page_size").fetchone()
          root, = database.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [sys.argv[2]]).fetchone()
      with open(path, "r+b") as file:
          file.seek((root - 1) * size)
          file.write(bytes([255]) * size)
      """
    _ = try TestPython.run(script, [folders.outbox, table])
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    let repaired = try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(repaired.error.contains("the ledger was damaged"), "\(repaired.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2, reused: 1))
  }
}
