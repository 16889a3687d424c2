import Foundation
import TestSupport
import Testing

/// The program is killed at a system call of the delivery protocol, and started again.
@Suite(.blocking) struct CrashPointTests {
  static let points = [
    ("fsync", [1, 2, 3, 5, 8, 12, 16, 20, 24, 32]), ("renameat2", [1, 2, 5, 8, 13]),
    ("fdatasync", [1, 9, 17, 25, 33, 41]), ("rename", [1, 2, 4, 6, 8]),
    ("unlink", [1, 3, 8, 16]), ("mkdir", [2, 4, 8]), ("ftruncate", [2, 10]),
    ("sync_file_range", [1, 7]),
    ("mkdirat", [1, 2, 3]), ("unlinkat", [1, 2, 3, 5]), ("link", [1, 2, 3]),
  ].flatMap { call, numbers in numbers.map { (call, $0) } }

  private static let jobs = [
    ["astronaut.jpg", "chelsea.jpg", "missing.jpg", "coffee.jpg"], ["rocket.jpg", "chelsea-small.png"],
    ["coffee.jpg", "missing.jpg", "astronaut.jpg", "rocket.jpg", "chelsea.jpg"],
  ]

  @Test(arguments: points.sample(4))
  func `killed anywhere, three live jobs end with every row once and every file complete`(
    call: String, number: Int
  ) throws {
    let folders = try DarkroomFolders()
    for (job, names) in Self.jobs.enumerated() {
      try folders.drop("job\(job).txt", names.map { $0 + "\n" }.joined())
    }
    let words = (["run", "--filters", "none"] + folders.options).map { "'\($0)'" }.joined(separator: " ")
    let killed = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null -e trace=\(call) -e inject=\(call):signal=KILL:when=\(number) darkroom \(words)
        """, in: folders.folder)
    // A call that never came leaves finished jobs, for which the second start has nothing to do.
    let again = try folders.run(["--filters", "none"])
    #expect(again.status == 0 || again.status == 1, "\(killed.error)\(again.error)")
    for (job, names) in Self.jobs.enumerated() {
      let report = try folders.report("job\(job)")
      let failed = names.count { $0 == "missing.jpg" }
      #expect(report.counts == Report.Counts(total: names.count, filtered: names.count - failed, failed: failed))
      #expect(report.entries.map(\.index) == Array(0..<names.count))
      for output in report.entries.compactMap(\.output) {
        #expect(try folders.contents("job\(job)/" + output.file).count == output.bytes)
      }
      let lines = try String(decoding: folders.contents("job\(job)/entries.jsonl"), as: UTF8.self)
      #expect(lines.split(separator: "\n").count == names.count)
      #expect(!folders.exists("job\(job)/history"), "one run, one report")
    }
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.staged().isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/.darkroom/jobs").isEmpty)
  }
}
