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

  @Test(
    arguments: [
      ("ab", "--state and --outbox name the same folder"), ("to-ab", "--state and --outbox name the same folder"),
      ("ab/cats", "--state must not lie in --outbox"), ("to-ab/cats/.", "--state must not lie in --outbox"),
      ("ab/.darkroom/jobs", "--state must not lie in --outbox"), ("b", "--state and --inbox name the same folder"),
      ("to-ab/../b", "--state and --inbox name the same folder"), ("b/x.lock/state", "which is a lock of --inbox"),
    ], ["run", "watch", "doctor"])
  func
    `a state folder that is the inbox or the outbox, or lies in the outbox, is a usage error, and nothing is created`(
      state: (path: String, says: String), command: String
    ) throws
  {
    try FileManager.default.createSymbolicLink(atPath: folder.file("to-ab"), withDestinationPath: "ab")
    let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    let run = try DarkroomProcess.run(
      [command, "--inbox", "b", "--outbox", "ab", "--state", state.path, "--create"], in: folder)
    #expect(run.status == (command == "doctor" ? 1 : 64) && (run.error + run.output).contains(state.says), "\(run)")
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
  }

  @Test(arguments: [("b", "a/jobs"), ("a/cache/in", "ab")])
  func `neither inbox nor outbox may be in what the state folder keeps for jobs`(inbox: String, outbox: String) throws {
    for path in [inbox, outbox] { try folder.makeFolder(path) }
    let run = try DarkroomProcess.run(["run", "--inbox", inbox, "--outbox", outbox, "--state", "a"], in: folder)
    #expect(run.status == 64 && run.error.contains("which is a folder of --state"), "\(run.error)")
  }

  @Test(arguments: ["ab/.darkroom", "to-ab/.darkroom/", "b/state", "a", "."])
  func `the state folder may be the outbox's own, or above the folders, or in the inbox`(state: String) throws {
    try FileManager.default.createSymbolicLink(atPath: folder.file("to-ab"), withDestinationPath: "ab")
    try folder.write("", as: "b/job.txt")
    for _ in 0..<2 {
      let words = ["run", "--inbox", "b", "--outbox", "ab", "--state", state, "--create"]
      try DarkroomProcess.run(words, in: folder).expect(status: 0)
      #expect(FileManager.default.fileExists(atPath: folder.file("ab/job/report.json")))
    }
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
