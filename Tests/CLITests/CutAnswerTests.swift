import Foundation
import TestSupport
import Testing

/// Answers that break off without a trace in their length, of a server that confirms what it sent before.
@Suite(.blocking) struct CutAnswerTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// A server that answers with an ETag and without a length, that of each path's first `broken` answers to unconditional requests
  /// broken off, and says whether it was asked with a condition. What is broken off is the body, or at `/head` the header.
  private func server(broken: Int) throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + #"""
        body = open(sys.argv[1], "rb").read()
        asked = {}

        def handle(connection):
            head = connection.recv(65536).decode()
            path = head.split(" ")[1]
            if "if-none-match" in head.lower():
                say("condition")
                connection.sendall(b"HTTP/1.1 304 Same\r\nETag: \"a\"\r\nConnection: close\r\n\r\n")
                return connection.close()
            say("whole")
            asked[path] = asked.get(path, 0) + 1
            answer = b"HTTP/1.1 200 OK\r\nETag: \"a\"\r\nConnection: close\r\n\r\n" + body
            if asked[path] <= int(sys.argv[2]):
                answer = answer[:30 if path == "/head" else 20000]
            connection.sendall(answer)
            connection.close()

        serve()
        """#, [packageRoot + "/Samples/coffee.jpg", "\(broken)"])
  }

  /// - Returns: The error's code of the only entry; nil when it was filtered.
  private func run(_ url: String) throws -> String? {
    try folders.drop("job.txt", url + "\n")
    _ = try folders.run(["--retries", "1"])
    let row = try #require(folders.report("job").entries.first)
    return row.error?.code
  }

  @Test func `a header that breaks off is no answer, and is asked for again`() throws {
    let server = try server(broken: 1)
    #expect(try run(server.url("head")) == nil)
    #expect(try folders.report("job").entries.first?.attempts == 2)
    for _ in 0..<2 { #expect(try server.nextLine() == "whole") }
  }

  @Test func `a picture that was cut off is requested as a whole by the next run, whatever the server would confirm`()
    throws
  {
    let server = try server(broken: 1)
    let asked = [("image-truncated", "whole"), (nil, "whole"), (nil, "condition")]
    for (code, line) in asked {
      #expect(try run(server.url("a")) == code)
      #expect(try server.nextLine() == line)
    }
  }

  @Test func `one that stays broken is requested as a whole by each run`() throws {
    let server = try server(broken: .max)
    for _ in 0..<3 {
      #expect(try run(server.url("a")) == "image-truncated")
      #expect(try server.nextLine() == "whole")
    }
  }

  /// Entries of the same URL, or variants of one, of which the first is copied without being decoded, so that the server is asked
  /// whether what it sent before is unchanged.
  @Test(arguments: [
    #"[{"url": URL, "name": "a", "filters": "none"}, {"url": URL, "name": "b"}]"#,
    #"[{"url": URL, "name": "a", "variants": [{"name": "a", "filters": "none"}, {"name": "b"}]}]"#,
  ])
  func `it is requested as a whole also beside a copy of it, for which the server confirms it`(entries: String) throws {
    let server = try server(broken: 1)
    let text = entries.replacing("URL", with: #""\#(server.url("a"))""#)
    var codes: [[String?]] = []
    for _ in 0..<3 {
      try folders.drop("job.json", text)
      _ = try folders.run(["--retries", "1"])
      codes.append(try folders.report("job").entries.map { $0.error?.code })
    }
    #expect(codes == [[nil, "image-truncated"], [nil, nil], [nil, nil]])
    let digests = try Set(folders.report("job").entries.map { try #require($0.source?.sha256) })
    #expect(digests.count == 1, "the copy is that of the whole, too")
  }
}
