import Foundation
import TestSupport
import Testing

/// A report is delivered once, like results, whoever takes it away and whenever the program dies.
@Suite(.blocking) struct ReportOnceTests {
  private func words(_ folders: DarkroomFolders) -> String {
    (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
  }

  /// Calls that come after the report has its name, and before the ledger says that the job has ended, each with the folder
  /// that it works on.
  @Test(arguments: [("mkdirat", ""), ("unlinkat", "/.darkroom-done")], [true, false])
  func `killed while the manifest is moved away, the report does not appear again`(
    at: (call: String, folder: String), isTaken: Bool
  ) throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nmissing.jpg\n")
    let killed = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null -P '\(folders.inbox)\(at.folder)' -e trace=\(at.call) \
          -e inject=\(at.call):signal=KILL:when=1 darkroom \(words(folders)) || true
        """, in: folders.folder)
    #expect(folders.exists("job/report.json"), "\(killed.error)")
    let report = try folders.contents("job/report.json")
    let taken = folders.folder.file("taken")
    if isTaken { try FileManager.default.moveItem(atPath: folders.outbox + "/job", toPath: taken) }

    try folders.run(["--filters", "none"]).expect(status: 1)
    #expect(folders.exists("job") == !isTaken)
    #expect(try isTaken || folders.contents("job/report.json") == report)
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.staged().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/jobs").isEmpty)
    #expect(try folders.run(["--filters", "none"]).status == 0, "nothing is left to be done")
    #expect(folders.exists("job") == !isTaken && !folders.exists("job/history"))
  }

  @Test func `rows are on disk before the report has its name`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\nrocket.jpg\n")
    let log = folders.folder.file("calls")
    let run = try DarkroomProcess.run(
      script: "strace -f -y -qq -s 400 -o '\(log)' -e trace=fsync,renameat2 darkroom \(words(folders))",
      in: folders.folder)
    #expect(run.status == 0, "\(run.error)")
    let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    let synced = calls.firstIndex { $0.contains("fsync(") && $0.contains("/job/entries.jsonl>") }
    let renamed = calls.firstIndex { $0.contains("renameat2(") && $0.contains("/job>, \"report.json\"") }
    #expect(try #require(synced) < #require(renamed))
  }
}
