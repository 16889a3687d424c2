import Foundation
import TestSupport
import Testing

/// `darkroom status` for a person, at each moment in the life of an instance.
@Suite struct StatusTests {
  private func status(_ folders: DarkroomFolders) throws -> [String] {
    let run = try DarkroomProcess.run(["status"] + folders.named)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    let lines = run.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "\(folders.inbox) → \(folders.outbox)")
    return Array(lines.dropFirst())
  }

  @Test func `without an instance ever it says so, and creates nothing`() throws {
    let folders = try DarkroomFolders()
    #expect(try status(folders) == ["no process is at work", "nothing to do"])
    try folders.drop("job.txt", "coffee.jpg\n")
    #expect(try status(folders) == ["no process is at work", "queued: job.txt"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.inbox) == ["job.txt"])
  }

  @Test func `in a folder that is no place of work it ends with 66, and creates nothing`() throws {
    let folder = try TemporaryFolder()
    for words in [["status"], ["status", "--json"], ["wait", "job"]] {
      let run = try DarkroomProcess.run(words, in: folder)
      #expect(run.status == 66)
      #expect(run.error.contains("--inbox: inbox: No such file or directory"), "\(run.error)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    // Somebody paused before the first start: there is an inbox, and no outbox yet.
    #expect(try DarkroomProcess.run(["pause"], in: folder).status == 0)
    #expect(try DarkroomProcess.run(["status"], in: folder).output.contains("paused: pause.lock"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["inbox"])
  }

  @Test func `it tells of an instance that is idle, runs, is paused, and was killed`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let folders = try DarkroomFolders()
    let watch = try folders.start("watch", ["--filters", "none", "--downloads", "1", "--verbose"])
    #expect(try watch.waitForLine(containing: "watching") != nil)
    let atWork = "process \(watch.processID) is at work"
    #expect(try status(folders) == [atWork, "nothing to do"])

    try folders.drop("job.txt", (0..<3).map { server.url("\($0)") + "\n" }.joined())
    #expect(try server.nextRequest() == "/0")
    #expect(try status(folders).prefix(2) == [atWork, "job job: 0 of 3"])

    try Data("backup\n".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
    try server.release(1)
    // What runs finishes, and nothing starts: the picture is there, and waits for its filtration.
    let queues = "downloads: 0 of 1 running, 2 waiting; filtrations: 0 of \(processors) running, 1 waiting"
    var paused = try status(folders)
    for _ in 0..<200 where !paused.contains(queues) { paused = try status(folders) }
    #expect(paused.contains(queues), "\(paused)")
    #expect(paused.contains("job job: 0 of 3"))
    #expect(paused.contains { $0.hasPrefix("paused: x.lock (backup) since 20") })

    watch.send(SIGKILL)
    _ = try watch.finish()
    let killed = try status(folders)
    #expect(killed == ["no process is at work", "job job: waiting for the next start", "paused: x.lock (backup)"])
  }

  private var processors: Int { ProcessInfo.processInfo.activeProcessorCount }
}
