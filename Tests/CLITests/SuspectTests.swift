import Foundation
import TestSupport
import Testing

/// Entries over which the program has ended again and again.
@Suite(.blocking) struct SuspectTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private var state: String { folders.outbox + "/.darkroom" }

  /// The run whose snapshot lies in the state folder.
  private func runID() throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: state + "/jobs")
    return String(try #require(names.first { $0.hasSuffix(".txt") }).prefix { $0 != "." })
  }

  @Test func `a suspect is begun when all others have ended, and is filtered all the same`() throws {
    try folders.drop("job.txt", (1...4).map { server.url("a\($0)") + "\n" }.joined())
    let first = try folders.start("run", ["--filters", "none", "--per-host", "8"])
    for _ in 0..<4 { _ = try server.nextRequest() }
    try first.kill()
    // From here on everything is answered, what nobody waits for any more included.
    try server.release(1000)
    try Data("\(runID()) 0 3\n".utf8).write(to: URL(fileURLWithPath: state + "/suspects"))
    let second = try folders.start("run", ["--filters", "none", "--per-host", "8"])
    var others: Set<String> = []
    for _ in 0..<3 { others.insert(try server.nextRequest()) }
    #expect(others == ["/a2", "/a3", "/a4"])
    #expect(try server.nextRequest() == "/a1")
    try second.finish().expect(status: 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 4, filtered: 4))
    let log = try String(decoding: folders.contents("job/entries.jsonl"), as: UTF8.self).split(separator: "\n")
    #expect(log.last?.contains("\"name\":\"a1\"") == true, "\(log)")
  }

  @Test func `a second signal does not count as an end over what is inside a filtration`() throws {
    try folders.drop("job.txt", server.url("a") + "\n")
    let run = try folders.start("run", ["--filters", "sepia()", "--isolation", "process", "--filtrations", "1"])
    _ = try server.nextRequest()
    let runID = try runID()
    // The worker is there when the entry has been started, or soon after.
    let limit = Date() + 60
    while try !stopWorkers(of: run.processID), Date() < limit { usleep(10_000) }
    try server.release(1)
    let slots = URL(fileURLWithPath: state + "/filtrations")
    while String(decoding: (try? Data(contentsOf: slots)) ?? Data(), as: UTF8.self).contains(runID) == false,
      Date() < limit
    { usleep(10_000) }
    #expect(try String(decoding: Data(contentsOf: slots), as: UTF8.self).contains(runID))
    run.send(SIGTERM)
    #expect(try run.waitForLine(containing: "stopping") != nil)
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
    #expect(!FileManager.default.fileExists(atPath: slots.path))
    try server.release(100)
    #expect(try folders.run(["--filters", "sepia()"]).status == 0)
    #expect(!FileManager.default.fileExists(atPath: state + "/suspects"))
  }

  /// Stops the workers of a process where they are, and not the first child, of which they are forked.
  /// - Returns: Whether there were any.
  private func stopWorkers(of process: Int32) throws -> Bool {
    // By when they began, in ticks of the clock: numbers of processes begin anew where there are many.
    let workers = """
      for child in $(pgrep -P \(process)); do
        [ -r /proc/$child/stat ] && echo "$(cut -d ' ' -f 22 /proc/$child/stat) $child"
      done | sort -n | tail -n +\(Sanitizer.isAny ? 1 : 2) | cut -d ' ' -f 2
      """
    let found = try DarkroomProcess.run(
      script: "workers=$(\(workers)); [ -z \"$workers\" ] || kill -STOP $workers && echo $workers | wc -w",
      in: folders.folder)
    return (Int(found.output.filter(\.isNumber)) ?? 0) > 0
  }
}
