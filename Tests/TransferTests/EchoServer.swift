import Foundation
import TestSupport

@testable import Transfer

/// A server that answers with the request itself, as it came; `/redirect/STATUS/URL` leads there, once the request has
/// been read.
enum EchoServer {
  private static let one = Shared { try start() }

  /// One for all tests.
  static var shared: PythonServer { get throws { try one.value } }

  /// Another one.
  static func start() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + #"""
        def handle(connection):
            received = b""
            while True:
                while b"\r\n\r\n" not in received:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    received += piece
                head, _, received = received.partition(b"\r\n\r\n")
                lines = head.split(b"\r\n")
                fields = {n.strip().lower(): v.strip() for n, _, v in (line.partition(b":") for line in lines[1:])}
                size = int(fields.get(b"content-length", 0))
                while len(received) < size:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    received += piece
                body, received = received[:size], received[size:]
                path = lines[0].split()[1].decode()
                if path.startswith("/redirect/"):
                    _, _, status, target = path.split("/", 3)
                    answer = "HTTP/1.1 %s Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (status, target)
                    connection.sendall(answer.encode())
                else:
                    echo = head + b"\r\n\r\n" + body
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(echo) + echo)

        serve()
        """#)
  }
}

/// A request as the server saw it.
struct SeenRequest {
  let line: String
  let fields: [String: String]
  let body: String

  init(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    let halves = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    let lines = (halves.first ?? "").split(separator: "\r\n")
    line = String(lines.first ?? "")
    var fields: [String: String] = [:]
    for field in lines.dropFirst() {
      let parts = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let (name, value) = (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
      fields[name] = fields[name].map { $0 + "|" + value } ?? value
    }
    self.fields = fields
    body = halves.count > 1 ? String(halves[1]) : ""
  }
}

extension Downloads {
  /// Sends a request to an `EchoServer`.
  func seen(_ request: SourceRequest, at url: String) async throws -> SeenRequest {
    let (result, body) = try await fetch(url, request)
    _ = try result.get()
    return SeenRequest(body)
  }
}
