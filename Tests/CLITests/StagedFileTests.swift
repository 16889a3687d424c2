import Foundation
import TestSupport
import Testing

/// What lies in staging while jobs are live: whatever ends an entry, its files go, while the instance goes on.
@Suite(.blocking) struct StagedFileTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private static let variants = #""variants": [{"name": "a"}, {"name": "b", "filters": "none"}, {"name": "c"}]"#

  /// Waits until staging is as it should be.
  private func waitForStaging(_ isFine: ([String]) -> Bool) throws -> Bool {
    for _ in 0..<1200 {
      if isFine(try folders.staged()) { return true }
      usleep(50_000)
    }
    return false
  }

  private func stop(_ watch: DarkroomProcess) throws {
    try watch.stop()
    try folders.checkOutbox()
  }

  @Test func `sources of variants that did not begin go with their job`() throws {
    try folders.drop("job.jsonl", #"{"url": "\#(server.url("x"))", "name": "x", \#(Self.variants)}"#)
    let watch = try folders.start("watch", ["--cache-size", "0", "--verbose"])
    #expect(try server.nextRequest() == "/x")
    try folders.pause(watch)
    try server.release(1)
    #expect(try waitForStaging { $0.count { $0.hasSuffix(".source") } == 3 })
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    #expect(try watch.waitForLine(containing: "job: cancelled: 0 filtered") != nil)
    // The instance writes the outbox's page there.
    #expect(try eventually({ try folders.staged() }, is: \.isEmpty) == [])
    try stop(watch)
  }

  @Test(arguments: [true, false])
  func `what is left of a broken download goes with its run`(isReplaced: Bool) throws {
    let breaking = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()
        gate = threading.Event()

        def answer(connection, path):
            if path == "/break":
                gate.set()
                return connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
            say(path)
            head = "HTTP/1.1 200 OK\\r\\nETag: \\"one\\"\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
            connection.sendall(head.encode() + body[:len(body) // 3])
            gate.wait()

        serve()
        """, [packageRoot + "/Samples/coffee.jpg"])
    try folders.drop("job.txt", breaking.url("a") + "\n" + server.url("b") + "\n")
    let watch = try folders.start("watch", ["--filters", "none", "--retries", "5", "--verbose", "--cache-size", "0"])
    #expect(try breaking.nextLine() == "/a" && server.nextRequest() == "/b")
    // Paused first: what is broken off waits for its retry however slow the machine is.
    try folders.pause(watch)
    try LoopbackSocket.request("/break", port: breaking.port)
    #expect(try waitForStaging { $0.contains { $0.contains(".source-") } })
    if isReplaced {
      try folders.drop("job.txt", server.url("b") + "\n")
    } else {
      #expect(try folders.ask("cancel", ["job"]).status == 0)
    }
    #expect(try waitForStaging { !$0.contains { $0.contains(".source-") } })
    try folders.unlock()
    try server.release(9)
    #expect(try watch.waitForLine(containing: isReplaced ? "job: succeeded: 1 filtered" : "job: cancelled: ") != nil)
    try stop(watch)
  }

  @Test func `an original that is complete when its job is cancelled goes with its result`() throws {
    try folders.drop("job.txt", "coffee.jpg\n")
    // The filtration is held where both files are written and its record does not say so yet.
    let hold = "-e trace=sync_file_range -e inject=sync_file_range:delay_enter=4000000:when=1"
    let run = try DarkroomProcess.run(
      script: """
        strace -f -qq -o /dev/null \(hold) \(folders.line("run", ["--keep-originals"])) & pid=$!
        until find outbox -name '*.original' | grep -q .; do sleep 0.05; kill -0 $pid; done
        darkroom cancel job --inbox inbox --outbox outbox
        wait $pid || true
        """, in: folders.folder)
    #expect(try folders.staged().isEmpty, "\(run.output)\(run.error)")
    // On a machine that is very busy it may have been done before it was cancelled, or the original have been delivered, as it is
    // before the result, which may take long: what is delivered stays.
    let counts = try folders.report("job").counts
    let original = FileManager.default.contents(atPath: folders.outbox + "/job/originals/coffee.jpg")
    #expect(counts.total == 1 && (counts.filtered == 0 || original != nil))
    let sample = FileManager.default.contents(atPath: packageRoot + "/Samples/coffee.jpg")
    #expect(original == nil || original == sample)
  }
}
