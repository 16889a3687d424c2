import Foundation
import TestSupport
import Testing

@Suite struct BusyProcessorTests {
  private let folders: DarkroomFolders
  private let processors = ProcessInfo.processInfo.activeProcessorCount

  init() throws {
    folders = try DarkroomFolders()
    // Small as a file, and takes many seconds.
    let script = "import sys; from PIL import Image; Image.new('RGB', (9000, 9000), 'teal').save(sys.argv[1])"
    _ = try TestPython.run(script, [folders.folder.file("huge.png")])
  }

  @Test func `a signal is heard while filtrations occupy all processors`() throws {
    try folders.drop("job.jsonl", (0...processors).map { #"{"url":"huge.png","name":"n\#($0)"}"# + "\n" }.joined())
    let run = try folders.start("run", ["--grace", "0", "--file-root", folders.folder.path])
    while try filtering(folders) < processors { usleep(20_000) }
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    #expect(try folders.contents("job/entries.jsonl").isEmpty, "no filtration was waited for")
  }

  @Test func `a download begins while filtrations occupy all processors`() throws {
    let (nginx, server) = (try Nginx(serving: folders.folder.path), try FlakyServer())
    let huge = Array(repeating: nginx.url("huge.png"), count: processors + 1)
    try folders.drop("job.txt", (huge + [server.url("small")]).map { $0 + "\n" }.joined())
    let run = try folders.start("run", ["--grace", "0", "--downloads", "1"])
    #expect(try server.nextRequest().path == "/small")
    #expect(try folders.contents("job/entries.jsonl").isEmpty, "no filtration was waited for")
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
  }

  /// How many filtrations run.
  private func filtering(_ folders: DarkroomFolders) throws -> Int {
    let status = try DarkroomProcess.run(["status", "--json"] + folders.named)
    return try JSONDecoder().decode(Status.self, from: Data(status.output.utf8)).queues?.filtration.running ?? 0
  }

  private struct Status: Decodable {
    struct Queues: Decodable { let filtration: Queue }
    struct Queue: Decodable { let running: Int }
    let queues: Queues?
  }
}
