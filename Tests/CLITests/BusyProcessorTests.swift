import Foundation
import TestSupport
import Testing

@Suite struct BusyProcessorTests {
  @Test func `a signal is heard while filtrations occupy all processors`() throws {
    let folders = try DarkroomFolders()
    // Small as a file, and takes many seconds.
    let script = "import sys; from PIL import Image; Image.new('RGB', (9000, 9000), 'teal').save(sys.argv[1])"
    _ = try TestPython.run(script, [folders.folder.file("huge.png")])
    let processors = ProcessInfo.processInfo.activeProcessorCount
    try folders.drop("job.jsonl", (0...processors).map { #"{"url":"huge.png","name":"n\#($0)"}"# + "\n" }.joined())
    let run = try folders.start("run", ["--grace", "0", "--file-root", folders.folder.path])
    while try filtering(folders) < processors { usleep(20_000) }
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    #expect(try folders.contents("job/entries.jsonl").isEmpty, "no filtration was waited for")
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
