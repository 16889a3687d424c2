import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct BusyProcessorTests {
  private let folders: DarkroomFolders
  private let processors = ProcessInfo.processInfo.activeProcessorCount

  init() throws {
    folders = try DarkroomFolders()
    // Small as a file.
    let script = "import sys; from PIL import Image; Image.new('RGB', (9000, 9000), 'teal').save(sys.argv[1])"
    _ = try TestPython.run(script, [folders.folder.file("huge.png")])
  }

  @Test func `a download begins, and a signal is heard, while filtrations occupy all processors`() throws {
    let (nginx, server) = (try Nginx(serving: folders.folder.path), try FlakyServer())
    let huge = Array(repeating: nginx.url("huge.png"), count: processors + 1)
    try folders.drop("job.txt", (huge + [server.url("small")]).map { $0 + "\n" }.joined())
    // One download after another: when the last begins, the filtrations of those before it have.
    // So that they last longer than everything else here, also on a busy machine.
    let filters = (20..<24).map { "blur(\($0)px)" }.joined(separator: " ")
    let run = try folders.start("run", ["--grace", "0", "--downloads", "1", "--filters", filters])
    #expect(try server.nextRequest().path == "/small")
    #expect(try folders.contents("job/entries.jsonl").isEmpty, "no filtration was waited for")
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    #expect(try folders.contents("job/entries.jsonl").isEmpty, "no filtration was waited for")
  }
}
