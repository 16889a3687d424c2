import Foundation
import TestSupport
import Testing

/// Downloads that break off and go on with the next try.
@Suite(.blocking) struct PartialDownloadTests {
  /// A server that breaks off a number of answers to each path after a third of the rest, and says which range it was asked
  /// for. At `/gone` it always breaks off.
  private func server(breaking count: Int) throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + #"""
        body = open(sys.argv[1], "rb").read()
        left = {}

        def handle(connection):
            head = connection.recv(65536).decode()
            path = head.split(" ")[1]
            first = next((int(line[13:-1]) for line in head.split("\r\n") if line.lower().startswith("range:")), 0)
            say("%s %d" % (path, first))
            left[path] = left.get(path, int(sys.argv[2])) - 1
            rest = body[first:]
            status = "206 Part\r\nContent-Range: bytes %d-%d/%d" % (first, len(body) - 1, len(body)) if first else "200 OK"
            lines = "\r\nETag: \"one\"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(rest)
            breaks = path == "/gone" or left[path] >= 0
            connection.sendall(("HTTP/1.1 " + status + lines).encode() + (rest[:len(rest) // 3] if breaks else rest))
            connection.close()

        serve()
        """#, [Self.picture, "\(count)"])
  }

  private static let picture = packageRoot + "/Samples/coffee.jpg"

  @Test(arguments: [1, 3])
  func `a source that breaks off goes on where it was, and its bytes count once`(count: Int) throws {
    let (server, folders) = (try server(breaking: count), try DarkroomFolders())
    let size = try Data(contentsOf: URL(fileURLWithPath: Self.picture)).count
    try folders.drop("job.txt", server.url("a") + "\n")
    try folders.run(["--filters", "none", "--metadata", "all", "--retries", "\(count)"]).expect(status: 0)
    var first = 0
    for _ in 0...count {
      #expect(try server.nextLine() == "/a \(first)")
      first += (size - first) / 3
    }
    let report = try folders.report("job")
    let row = try #require(report.entries.first)
    #expect(row.attempts == count + 1 && row.source?.bytes == size && row.source?.http_status == 206)
    #expect(report.transfers?.bytes == size && report.bytes.downloaded == size)
    #expect(
      try folders.contents("job/" + #require(row.output?.file)) == Data(contentsOf: URL(fileURLWithPath: Self.picture)))
    #expect(try folders.staged().isEmpty)
  }

  @Test func `what is left of a source that is given up is removed, while its job goes on`() throws {
    let (server, folders) = (try server(breaking: 0), try DarkroomFolders())
    let gate = try GatedServer(serving: Self.picture)
    try folders.drop("job.txt", server.url("gone") + "\n" + gate.url("other") + "\n")
    let run = try folders.start("run", ["--filters", "none", "--metadata", "all", "--retries", "1"])
    #expect(try gate.nextRequest() == "/other")
    #expect(try run.waitForLine(containing: "truncated") != nil)
    #expect(try !folders.staged().contains { $0.contains(".source-") })
    try gate.release(1)
    #expect(try run.finish().status == 1)
    #expect(try folders.staged().isEmpty)
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 1, failed: 1))
  }

  @Test func `a mirror begins anew`() throws {
    let (server, folders) = (try server(breaking: 0), try DarkroomFolders())
    try folders.drop("job.jsonl", "{\"url\": [\"\(server.url("gone"))\", \"\(server.url("b"))\"]}\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    #expect(try server.nextLine() == "/gone 0")
    #expect(try server.nextLine() == "/b 0")
    #expect(try folders.report("job").entries.first?.source?.http_status == 200)
    #expect(try folders.staged().isEmpty)
  }
}
