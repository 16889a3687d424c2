import Foundation
import TestSupport
import Testing

/// Folders that cannot be used together, and an inbox with nothing in it.
@Suite(.blocking) struct FolderConflictTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["a/in", "a/pause.lock/out", "b", "ab"] {
      try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "a")
  }

  private func run(_ inbox: String, _ outbox: String, _ command: String = "run") throws -> DarkroomProcess.Finished {
    try DarkroomProcess.run([command, "--inbox", inbox, "--outbox", outbox], in: folder)
  }

  @Test(
    arguments: [
      ("a", "a", "the same folder"), ("a", "./b/../a/", "the same folder"), ("link", "a", "the same folder"),
      ("a/in", "a", "--inbox must not lie in --outbox"), ("link/in", "a", "--inbox must not lie in --outbox"),
      ("a", "a/pause.lock/out", "which is a lock"),
    ], ["run", "watch"])
  func `an inbox that is the outbox or lies in it is a usage error, and nothing is changed`(
    folders: (inbox: String, outbox: String, says: String), command: String
  ) throws {
    let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    let run = try run(folders.inbox, folders.outbox, command).expect(status: 64)
    #expect(run.error.contains(folders.says), "\(run.error)")
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
  }

  @Test(arguments: [("c", "c/out"), ("ab", "a"), ("b", "ab")])
  func `an outbox may lie in the inbox, or have a name that begins alike`(inbox: String, outbox: String) throws {
    try FileManager.default.createDirectory(atPath: folder.file("c/out"), withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: folder.file(inbox + "/job.txt")))
    #expect(try run(inbox, outbox).status == 0)
    #expect(FileManager.default.fileExists(atPath: folder.file(outbox + "/job/report.json")))
    #expect(try run(inbox, outbox).status == 0)
  }

  @Test func `run says once that there is nothing to do, unless it is quiet or there was something`() throws {
    let folders = try DarkroomFolders()
    let idle = try folders.run()
    #expect(idle.status == 0 && idle.error == "nothing to do in \(folders.inbox)\n", "\(idle.error)")
    #expect(try folders.run(["--quiet"]).error.isEmpty)
    try folders.drop("notes.docx", "")
    for _ in 0..<2 {
      let told = try folders.run().error
      #expect(
        told.hasSuffix("nothing to do in \(folders.inbox); 1 file is ignored, see \"darkroom status\"\n"), "\(told)")
    }
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try !folders.run(["--filters", "none"]).error.contains("nothing to do"))
    try folders.drop("job.txt", "missing.jpg\n")
    #expect(try !folders.run(["--filters", "none"]).error.contains("nothing to do"))
  }
}
