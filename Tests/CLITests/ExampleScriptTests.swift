import Foundation
import TestSupport
import Testing

/// The script in `Documentation/examples` does what it says, with a watching instance and a local server.
@Suite(.blocking) struct ExampleScriptTests {
  private static let script = packageRoot + "/Documentation/examples/nightly.sh"

  private func nightly(_ list: String, _ text: String, _ folders: DarkroomFolders, seconds: Int = 300) throws
    -> DarkroomProcess.Finished
  {
    try text.write(toFile: folders.folder.file(list), atomically: false, encoding: .utf8)
    return try DarkroomProcess.run(
      script: "'\(Self.script)' \(list) \(seconds)", in: folders.folder,
      environment: ["DARKROOM_INBOX": folders.inbox, "DARKROOM_OUTBOX": folders.outbox])
  }

  private func watching(_ folders: DarkroomFolders, _ body: () throws -> Void) throws {
    let watch = try folders.watch(["--filters", "none", "--verbose"])
    try body()
    try watch.stop()
  }

  @Test func `what failed in passing is tried again, and the finished files are printed`() throws {
    let server = try FlakyServer()
    let folders = try DarkroomFolders()
    try watching(folders) {
      let run = try nightly("cats.txt", "coffee.jpg\n\(server.url("cat?503"))\n", folders).expect(status: 0)
      let files = run.output.split(separator: "\n").map(String.init)
      #expect(files.count == 2 && files.allSatisfy(FileManager.default.fileExists), "\(run.output)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/cats/history").count == 1)
  }

  @Test func `what is not there is named, and not tried again`() throws {
    let folders = try DarkroomFolders()
    try watching(folders) {
      let run = try nightly("cats.txt", "coffee.jpg\nmissing.jpg\n", folders).expect(status: 1)
      #expect(run.output == folders.outbox + "/cats/images/coffee.jpg\n")
      #expect(run.error.contains("missing: file-not-found: "), "\(run.error)")
    }
    #expect(!folders.exists("cats/history"))
  }

  @Test func `a list that is rejected, cannot be added, or waits too long ends with darkroom's code`() throws {
    let folders = try DarkroomFolders()
    let late = try nightly("late.txt", "coffee.jpg\n", folders, seconds: 0)
    #expect(late.status == 75 && late.error.contains("late has not ended after 0 seconds"), "\(late.error)")
    let again = try nightly("late.txt", "coffee.jpg\n", folders, seconds: 0)
    #expect(again.status == 75 && again.error.contains("is in the inbox already"), "\(again.error)")
    #expect(try nightly("cats.docx", "", folders).status == 66)
    try watching(folders) {
      let rejected = try nightly("bad.json", #"{"a": {"ulr": "x"}}"#, folders)
      #expect(rejected.status == 65 && rejected.error.contains("did you mean \"url\""), "\(rejected.error)")
    }
  }
}
