import Foundation
import TestSupport
import Testing

/// The program is killed at a system call of the delivery protocol, and started again.
@Suite struct CrashPointTests {
  static let points = [
    ("fsync", [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24]), ("renameat2", [1, 2, 5, 8, 11]),
    ("fdatasync", [1, 5, 9, 13, 17, 21, 25, 29, 33, 37, 41, 45]), ("rename", [1, 2, 3, 4, 5]),
    ("unlink", [1, 2, 3, 4]), ("mkdir", [2, 4, 6, 8]), ("ftruncate", [2, 6, 10, 14]), ("sync_file_range", [1, 7]),
    ("mkdirat", [1]), ("unlinkat", [1, 2, 3]),
  ].flatMap { call, numbers in numbers.map { (call, $0) } }

  @Test(arguments: points)
  func `killed anywhere, a job ends with every row once and every file complete`(call: String, number: Int) throws {
    let folders = try DarkroomFolders()
    let names = ["astronaut.jpg", "chelsea.jpg", "chelsea-small.png", "coffee.jpg", "rocket.jpg", "missing.jpg"]
    let entries = names + names.map { "{\"url\": \"\($0)\", \"name\": \"again/\($0)\"}" }
    try folders.drop(
      "job.jsonl", entries.map { $0.hasPrefix("{") ? $0 + "\n" : "\"\($0)\"\n" }.joined())
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let killed = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null -e trace=\(call) -e inject=\(call):signal=KILL:when=\(number) darkroom \(words)
        """, in: folders.folder)
    // A call that never came leaves a finished job, for which the second start has nothing to do.
    let again = try folders.run(["--filters", "none"])
    #expect(again.status == 0 || again.status == 1, "\(killed.error)\(again.error)")
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 12, filtered: 10, failed: 2))
    #expect(report.entries.map(\.index) == Array(0..<12))
    for output in report.entries.compactMap(\.output) {
      #expect(try folders.contents("job/" + output.file).count == output.bytes)
    }
    let lines = try String(decoding: folders.contents("job/entries.jsonl"), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 12)
    #expect(!folders.exists("job/history"), "one run, one report")
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.staged().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/jobs").isEmpty)
  }
}
