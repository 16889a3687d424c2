import Foundation
import TestSupport
import Testing

/// With a long `--poll-interval` nothing waits for the next scan that does not depend on it.
@Suite(.blocking) struct WakingTests {
  private static let options = ["--filters", "none", "--poll-interval", "1000"]

  /// Runs a command, for a minute at most.
  private func run(
    _ command: String, _ options: [String], _ folders: DarkroomFolders
  ) throws -> DarkroomProcess.Finished {
    let words = options.map { "'\($0)'" }.joined(separator: " ")
    return try DarkroomProcess.run(script: "timeout 60 darkroom \(command) \(words)", in: folders.folder)
  }

  @Test func `wait returns when the job has ended, although many others are live`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let watch = try folders.watch(Self.options + ["--verbose"])
    for number in 0..<6 { try folders.drop("long\(number).txt", server.url("\(number)") + "\n") }
    for _ in 0..<6 { #expect(try watch.waitForLine(containing: ": 1 entry") != nil) }
    // One after the other, so that the status has to be written again soon after it was.
    for number in 0..<5 {
      try folders.drop("short\(number).txt", "coffee.jpg\n")
      let wait = try run("wait short\(number)", folders.named, folders)
      #expect(wait.status == 0, "124 is the end of its time: \(wait.error)")
    }
    try server.release(100)
    try watch.stop()
  }

  @Test(arguments: ["[]", #"["coffee.jpg", "chelsea.jpg"]"#])
  func `a job of which nothing is left to be done when it begins has its report at once`(manifest: String) throws {
    let folders = try DarkroomFolders()
    try folders.drop("other.txt", "coffee.jpg\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    try folders.drop("job.json", manifest)
    // The first link is the manifest's, for the report: all rows are durable then.
    let words = (folders.options + Self.options).map { "'\($0)'" }.joined(separator: " ")
    let killed = try DarkroomProcess.run(
      script: """
        timeout 60 strace -f -qq -o /dev/null -e trace=link,linkat -e inject=link,linkat:signal=KILL:when=1 \
          darkroom run \(words)
        """, in: folders.folder)
    let again = try run("run", folders.options + Self.options, folders)
    #expect(again.status == 0, "124 is the end of its time: \(killed.error)\(again.error)")
    #expect(try folders.report("job").state == "succeeded")
  }

  @Test func `--lock-wait ends a run in time`() throws {
    let folders = try DarkroomFolders()
    try folders.drop("job.txt", "coffee.jpg\n")
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/a.lock"))
    #expect(try run("run", folders.options + Self.options + ["--lock-wait", "0.5"], folders).status == 75)
  }
}
