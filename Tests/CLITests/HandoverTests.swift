import Foundation
import TestSupport
import Testing

/// What is known of entries that wait when their manifest is replaced: sources of variants, tries, and what is left of broken
/// downloads.
@Suite(.blocking) struct HandoverTests {
  private let folders: DarkroomFolders
  private static let picture = packageRoot + "/Samples/coffee.jpg"

  init() throws { folders = try DarkroomFolders() }

  /// A server that breaks off its first answer for each path after a third, as soon as it is asked for `/break`, and says which
  /// range it was asked for.
  private func breakingServer() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + #"""
        body = open(sys.argv[1], "rb").read()
        seen = set()
        gate = threading.Event()

        def handle(connection):
            head = connection.recv(65536).decode()
            path = head.split(" ")[1]
            if path == "/break":
                gate.set()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                connection.close()
                return
            first = next((int(line[13:-1]) for line in head.split("\r\n") if line.lower().startswith("range:")), 0)
            say("%s %d" % (path, first))
            rest = body[first:]
            status = "206 Part\r\nContent-Range: bytes %d-%d/%d" % (first, len(body) - 1, len(body)) if first else "200 OK"
            lines = "\r\nETag: \"one\"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(rest)
            connection.sendall(("HTTP/1.1 " + status + lines).encode() + (rest if path in seen else rest[:len(rest) // 3]))
            if path not in seen:
                seen.add(path)
                gate.wait()
            connection.close()

        serve()
        """#, [Self.picture])
  }

  /// Waits until staging is as it should be.
  private func waitForStaging(_ isFine: ([String]) -> Bool) throws -> Bool {
    for _ in 0..<1200 {
      if isFine(try folders.staged()) { return true }
      usleep(50_000)
    }
    return false
  }

  private func pause(_ watch: DarkroomProcess) throws {
    try Data().write(to: URL(fileURLWithPath: folders.inbox + "/x.lock"))
    #expect(try watch.waitForLine(containing: "paused: x.lock") != nil)
  }

  private func resume() throws { try FileManager.default.removeItem(atPath: folders.inbox + "/x.lock") }

  private func stop(_ watch: DarkroomProcess) throws {
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
    #expect(try folders.staged().isEmpty)
    let check = try DarkroomProcess.run(
      script: "'\(TestPython.interpreter)' '\(packageRoot)/script/check-outbox' outbox", in: folders.folder)
    #expect(check.status == 0, "\(check.output)")
  }

  @Test func `a source that its variants wait for is not downloaded again when their manifest is replaced`() throws {
    let server = try GatedServer(serving: Self.picture)
    let variants = #""variants": [{"name": "a"}, {"name": "b", "filters": "none"}, {"name": "c"}]"#
    let entry = #"{"url": "\#(server.url("x"))", "name": "x", \#(variants)}"#
    try folders.drop("job.jsonl", entry)
    let watch = try folders.start("watch", ["--cache-size", "0", "--verbose"])
    #expect(try server.nextRequest() == "/x")
    try pause(watch)
    try server.release(1)
    #expect(try waitForStaging { $0.count { $0.hasSuffix(".source") } == 3 })
    try folders.drop("job.jsonl", #"{"url": "\#(server.url("z"))"}"# + "\n" + entry)
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try resume()
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    try server.note("end")
    #expect(try server.nextRequest() == "/z")
    #expect(try server.nextRequest() == "/end")
    #expect(try folders.report("job").entries.map(\.index) == [0, 1, 1, 1])
    try stop(watch)
  }

  @Test func `a download that variants wait for is not made again when their manifest is replaced`() throws {
    let server = try GatedServer(serving: Self.picture)
    let variants = #""variants": [{"name": "a"}, {"name": "b", "filters": "none"}, {"name": "c"}]"#
    let entry = #"{"url": "\#(server.url("x"))", "name": "x", \#(variants)}"#
    try folders.drop("job.jsonl", entry)
    // What the new run has for the host waits for the download.
    let watch = try folders.start("watch", ["--cache-size", "0", "--per-host", "1", "--verbose"])
    #expect(try server.nextRequest() == "/x")
    for line in ["y", "z"] {
      try folders.drop("job.jsonl", #"{"url": "\#(server.url(line))"}"# + "\n" + entry)
      #expect(try watch.waitForLine(containing: "job: its manifest was replaced; 3 entries that are") != nil)
    }
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    try server.note("end")
    #expect(try server.nextRequest() == "/z")
    #expect(try server.nextRequest() == "/end")
    let rows = try folders.report("job").entries
    #expect(rows.map(\.index) == [0, 1, 1, 1])
    #expect(rows.map(\.coalesced) == [nil, nil, true, true])
    try stop(watch)
  }

  @Test func `tries and what is left of a broken download go over to the manifest that replaces theirs`() throws {
    let server = try breakingServer()
    let size = try Data(contentsOf: URL(fileURLWithPath: Self.picture)).count
    try folders.drop("job.txt", server.url("a") + "\n")
    let watch = try folders.start(
      "watch", ["--filters", "none", "--metadata", "all", "--retries", "5", "--verbose", "--cache-size", "0"])
    #expect(try server.nextLine() == "/a 0")
    // Paused first: what is broken off waits for its retry however slow the machine is.
    try pause(watch)
    try LoopbackSocket.request("/break", port: server.port)
    #expect(try waitForStaging { $0.contains { $0.contains(".source-") } })
    try folders.drop("job.txt", "coffee.jpg\n" + server.url("a") + "\n")
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try resume()
    #expect(try watch.waitForLine(containing: "job: succeeded: 2 filtered") != nil)
    #expect(try server.nextLine() == "/a \(size / 3)")
    let row = try #require(try folders.report("job").entries.last)
    #expect(row.attempts == 2 && row.source?.http_status == 206)
    try stop(watch)
  }

  @Test(arguments: [true, false])
  func `what is left of a broken download goes with its entry`(isReplaced: Bool) throws {
    let (server, gate) = (try breakingServer(), try GatedServer(serving: Self.picture))
    try folders.drop("job.txt", server.url("a") + "\n" + gate.url("b") + "\n")
    let watch = try folders.start("watch", ["--filters", "none", "--retries", "5", "--verbose", "--cache-size", "0"])
    #expect(try server.nextLine() == "/a 0")
    #expect(try gate.nextRequest() == "/b")
    try pause(watch)
    try LoopbackSocket.request("/break", port: server.port)
    #expect(try waitForStaging { $0.contains { $0.contains(".source-") } })
    if isReplaced {
      try folders.drop("job.txt", gate.url("b") + "\n")
    } else {
      #expect(try DarkroomProcess.run(["cancel", "job"] + folders.named).status == 0)
    }
    // The other entry, which goes on, is not needed for that.
    #expect(try waitForStaging { !$0.contains { $0.contains(".source-") } })
    try resume()
    try gate.release(1)
    #expect(try watch.waitForLine(containing: isReplaced ? "job: succeeded: 1 filtered" : "job: cancelled: ") != nil)
    try stop(watch)
  }
}
