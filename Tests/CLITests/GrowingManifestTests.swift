import Foundation
import TestSupport
import Testing

/// A manifest that somebody writes on and on is not taken, and holds nobody up.
@Suite(.blocking) struct GrowingManifestTests {
  /// Appends to a file, on a thread of its own, until it is told to stop.
  private final class Writer: Sendable {
    private let stopped = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    private let path: String

    /// - Parameter most: So many lines are written; then it only has the file open.
    init(_ path: String, most: Int = .max) throws {
      self.path = path
      try Data().write(to: URL(fileURLWithPath: path))
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      Thread.detachNewThread { [self] in
        var count = 0
        repeat {
          if count < most { try? file.write(contentsOf: Data("coffee.jpg\n".utf8)) }
          count += 1
        } while stopped.wait(timeout: .now() + .milliseconds(2)) == .timedOut
        try? SpawnedProcess.whileNoneStarts { try file.close() }
        ended.signal()
      }
    }

    /// Lets it write a last time and close the file.
    func stop() {
      stopped.signal()
      ended.wait()
    }

    var lines: Int { ((try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0) / 11 }

    deinit { stopped.signal() }
  }

  private static let options = ["--settle", "0.5", "--filters", "none"]

  @Test func `watch leaves it alone, processes others meanwhile, and takes it whole when it is closed`() throws {
    let folders = try DarkroomFolders()
    let writer = try Writer(folders.inbox + "/grow.txt")
    let watch = try folders.start("watch", Self.options)
    for name in ["one", "two", "three"] {
      try folders.drop("\(name).txt", "coffee.jpg\n")
      #expect(try watch.waitForLine(containing: "\(name): succeeded") != nil)
      #expect(!folders.exists("grow"))
    }
    writer.stop()
    #expect(try watch.waitForLine(containing: "grow: succeeded") != nil)
    #expect(try folders.report("grow").counts.filtered == writer.lines || !folders.exists("../inbox/grow.txt"))
    try watch.stop()
    let manifest = try folders.contents("grow/manifest.txt")
    #expect(try folders.report("grow").counts.filtered == manifest.count / 11)
  }

  @Test func `run with --lock-wait processes others, names it, and ends with 75`() throws {
    let folders = try DarkroomFolders()
    let writer = try Writer(folders.inbox + "/grow.txt")
    try folders.drop("good.txt", "coffee.jpg\n")
    let run = try folders.run(Self.options + ["--lock-wait", "0.2"]).expect(status: 75)
    #expect(run.error.contains("still being written") && run.error.contains("grow.txt"), "\(run.error)")
    #expect(!run.error.contains("good.txt"), "\(run.error)")
    #expect(try folders.report("good").state == "succeeded")
    #expect(!folders.exists("grow"))
    #expect(try folders.inboxNames() == ["grow.txt"])
    writer.stop()
    #expect(try folders.run(Self.options + ["--lock-wait", "0"]).status == 0)
    #expect(try folders.report("grow").state == "succeeded")
  }

  /// `(echo coffee.jpg; sleep 4; echo rocket.jpg) > inbox/part.txt`, by a shell that waits for the test.
  @Test(arguments: [false, true])
  func `a writer that pauses for longer than --settle loses nothing, whatever the time of modification`(isOld: Bool)
    throws
  {
    let folders = try DarkroomFolders()
    let path = folders.inbox + "/part.txt"
    try Data().write(to: URL(fileURLWithPath: path))
    let writer = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try writer.write(contentsOf: Data("coffee.jpg\n".utf8))
    if isOld {
      #expect(utimensat(AT_FDCWD, path, [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)], 0) == 0)
    }
    let watch = try folders.start("watch", ["--filters", "none"])
    // Younger: it would come later.
    try folders.drop("other.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "other: succeeded") != nil)
    #expect(!folders.exists("part"))
    try writer.write(contentsOf: Data("rocket.jpg\n".utf8))
    try writer.close()
    #expect(try watch.waitForLine(containing: "part: succeeded") != nil)
    try watch.stop()
    #expect(try folders.report("part").counts.filtered == 2)
    #expect(!folders.exists("part/history"))
  }

  @Test func `watch says once that a manifest is open for writing, and status says so`() throws {
    let folders = try DarkroomFolders()
    let writer = try Writer(folders.inbox + "/grow.txt", most: 50)
    func isOpen() throws -> Bool {
      let status = try folders.ask("status", ["--json"])
      #expect(try JSONSchema.violations(of: Data(status.output.utf8), name: "status.schema.json") == "")
      let object = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
      return object?["queued_open"] as? [String] == ["grow.txt"]
    }
    #expect(try isOpen(), "without an instance, too")
    let watch = try folders.start("watch", ["--filters", "none"])
    try folders.drop("one.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "one: succeeded") != nil)
    #expect(try eventually(isOpen, is: { $0 }))
    let status = try folders.ask("status").output
    #expect(status.contains("queued: grow.txt, which some process has open for writing"), "\(status)")
    // After ten seconds.
    #expect(try watch.waitForLine(containing: "grow.txt in the inbox is not read yet") != nil)
    try folders.drop("two.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "two: succeeded") != nil)
    writer.stop()
    #expect(try watch.waitForLine(containing: "grow: succeeded") != nil)
    watch.send(SIGTERM)
    let ended = try watch.finish()
    #expect(ended.error.matches(of: /is not read yet/).count == 1, "\(ended.error)")
    #expect(!ended.error.contains("left for the next start"))
  }

  @Test func `run leaves one that is open for a minute to the next start, once the others are done`() throws {
    let (folders, clock) = (try DarkroomFolders(), try MovedClock(.monotonic))
    let writer = try Writer(folders.inbox + "/grow.txt", most: 50)
    try folders.drop("good.txt", "coffee.jpg\n")
    let run = try DarkroomProcess(["run"] + folders.options + ["--filters", "none"], environment: clock.environment)
    #expect(try run.waitForLine(containing: "good: succeeded") != nil)
    try clock.set(61)
    let ended = try run.finish().expect(status: 75)
    #expect(ended.error.contains("grow.txt is left for the next start"), "\(ended.error)")
    #expect(!ended.error.contains("nothing to do"), "\(ended.error)")
    #expect(try folders.inboxNames() == ["grow.txt"] && !folders.exists("grow"))
    writer.stop()
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try folders.report("grow").state == "succeeded")
  }

  @Test(arguments: [["--settle", "3600", "--max-duration", "300"], ["--settle", "0.5", "--lock-wait", "0"]])
  func `run takes a manifest that nobody writes at once, however new, and whatever --settle and --lock-wait say`(
    options: [String]
  ) throws {
    let folders = try DarkroomFolders()
    try SpawnedProcess.whileNoneStarts {
      try Data("coffee.jpg\n".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/new.txt"))
    }
    try folders.run(["--filters", "none"] + options).expect(status: 0)
    #expect(try folders.report("new").state == "succeeded")
  }
}
