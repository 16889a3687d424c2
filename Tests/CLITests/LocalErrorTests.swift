import Foundation
import TestSupport
import Testing

/// Errors of the machine are nobody's failure: what they hit is tried again, and the rest goes on.
@Suite(.blocking) struct LocalErrorTests {
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
    try watch.stop()
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
  }

  @Test func `a source that cannot be read has the code io, may be tried again, and is not said to be missing`() throws
  {
    let folders = try DarkroomFolders()
    // Reading it fails for everybody (EIO), as a bad sector would.
    try folders.drop("job.txt", "file:///proc/self/mem\ncoffee.jpg\n")
    let run = try folders.run(["--filters", "none", "--file-root", "/"]).expect(status: 1)
    let report = try folders.report("job")
    #expect(report.entries[0].error?.code == "io", "\(run.error)")
    #expect(report.entries[0].error?.retryable == true)
  }
}
