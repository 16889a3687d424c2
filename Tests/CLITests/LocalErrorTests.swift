import Foundation
import TestSupport
import Testing

/// Errors of the machine are nobody's failure: what they hit is tried again, and the rest goes on.
@Suite(.blocking) struct LocalErrorTests {
  static let points: [(call: String, error: String, numbers: [Int])] = [
    ("fsync", "EIO", [3, 5, 7, 9, 12, 15, 20]), ("fdatasync", "EIO", [6, 9, 12, 15, 18, 21]),
    ("renameat2", "EROFS", [1, 2, 4]), ("renameat2", "EIO", [1, 3]), ("rename", "EDQUOT", [1, 2, 4]),
    ("mkdir", "EROFS", [5, 6, 7, 8]), ("openat", "EMFILE", [60, 80, 100, 110, 120, 130, 140, 150, 160, 180]),
    ("write", "EDQUOT", [10, 16, 22]), ("unlink", "EROFS", [2, 4, 8]), ("fsync", "EINTR", [4, 8, 12]),
    ("renameat2", "EINTR", [1, 3]), ("fsync", "ENOSPC", [5, 9]),
  ]

  private static let jobs = [["astronaut.jpg", "chelsea.jpg", "coffee.jpg"], ["rocket.jpg", "chelsea-small.png"]]

  /// The thread sanitizer waits for ever for the symbolizer when it cannot write to that.
  private static let testable = points.filter { !Sanitizer.isThread || $0.call != "write" }

  @Test(arguments: testable.flatMap { point in point.numbers.map { (point.call, point.error, $0) } }.sample(8))
  func `an error of the machine at one call fails no entry, and loses nothing`(
    call: String, error: String, number: Int
  ) throws {
    let folders = try DarkroomFolders()
    for (job, names) in Self.jobs.enumerated() {
      try folders.drop("job\(job).txt", names.map { $0 + "\n" }.joined())
    }
    let more = ["--filters", "none", "--min-free", "0", "--lock-wait", "30"]
    let words = (["run"] + folders.options + more).map { "'\($0)'" }.joined(separator: " ")
    let first = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null -e trace=\(call) -e inject=\(call):error=\(error):when=\(number) darkroom \(words) \
          || true
        """, in: folders.folder)
    // At its start the program may end with 73.
    let again = try folders.run(more)
    #expect(again.status == 0, "\(first.error)\(again.error)")
    for (job, names) in Self.jobs.enumerated() {
      let report = try folders.report("job\(job)")
      #expect(report.counts == Report.Counts(total: names.count, filtered: names.count), "\(first.error)")
      for output in report.entries.compactMap(\.output) {
        #expect(try folders.contents("job\(job)/" + output.file).count == output.bytes)
      }
      let lines = try String(decoding: folders.contents("job\(job)/entries.jsonl"), as: UTF8.self)
      #expect(lines.split(separator: "\n").count == names.count)
    }
    #expect(try folders.inboxNames().isEmpty)
    #expect(try folders.staged().isEmpty)
  }

  @Test(.disabled(if: ImmutableFolder.obstacle != nil, Comment(rawValue: ImmutableFolder.obstacle ?? "")))
  func `while staging may not be written the queues pause, and what is done then is whole`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", server.url("a") + "\n" + server.url("b") + "\n")
    let watch = try folders.start("watch", ["--filters", "sepia()", "--min-free", "0"])
    for _ in 0..<2 { _ = try server.nextRequest() }
    let staging = folders.outbox + "/.darkroom/staging"
    let own = try #require(FileManager.default.contentsOfDirectory(atPath: staging).first)
    let immutable = try ImmutableFolder(staging + "/" + own)
    try server.release(100)
    #expect(try watch.waitForLine(containing: "paused: disk") != nil)
    immutable.release()
    #expect(try watch.waitForLine(containing: "job: succeeded") != nil)
    watch.send(SIGTERM)
    let ended = try watch.finish()
    #expect(ended.status == 0, "\(ended.error)")
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
  }

  @Test func `a source that cannot be read has the code io, may be tried again, and is not said to be missing`() throws
  {
    let folders = try DarkroomFolders()
    // Reading it fails for everybody (EIO), as a bad sector would.
    try folders.drop("job.txt", "file:///proc/self/mem\ncoffee.jpg\n")
    let run = try folders.run(["--filters", "none", "--file-root", "/"])
    #expect(run.status == 1, "\(run.error)")
    let report = try folders.report("job")
    #expect(report.entries[0].error?.code == "io", "\(run.error)")
    #expect(report.entries[0].error?.retryable == true)
  }
}
