import Foundation
import TestSupport
import Testing

@testable import Transfer

/// Requests to a server that keeps connections, and may close one after it has read a request.
@Suite(.blocking) struct KeptConnectionTests {
  private let server: PythonServer
  private let downloads: Downloads

  init() throws {
    server = try PythonServer(
      PythonServer.prelude + #"""
        def handle(connection):
            received = b""
            number = 0
            path = ""
            while True:
                while b"\r\n\r\n" not in received:
                    piece = connection.recv(65536)
                    if not piece:
                        if path == "/idle":
                            say("closed")
                        return connection.close()
                    received += piece
                head, _, received = received.partition(b"\r\n\r\n")
                size = int((head.lower() + b"\r\n").partition(b"content-length:")[2].split(b"\r\n")[0] or b"0")
                while len(received) < size:
                    received += connection.recv(65536)
                received = received[size:]
                method, path = head.decode().split()[:2]
                number += 1
                say("%s %s %d" % (method, path, number))
                if path == "/closed" and number == 2:
                    return connection.close()
                if path == "/silent":
                    stall(connection)
                if path.startswith("/to/"):
                    answer = "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % path[3:]
                    connection.sendall(answer.encode())
                    continue
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                if path == "/end":
                    return connection.close()

        serve()
        """#)
    downloads = try Downloads()
  }

  private func fetch(_ path: String, _ method: SourceRequest.Method) async throws -> RequestCount {
    let content = method == .get ? nil : SourceRequest.Content.body("x")
    let request = try SourceRequest(method: method, headers: [], content: content)
    return try await downloads.fetch(server.url(path), request).result.get().requests
  }

  /// What the server was asked for since, each with its number on its connection.
  private func seen() async throws -> [String] {
    try LoopbackSocket.request("/end", port: server.port)
    var seen: [String] = []
    while true {
      let line = try await server.line()
      if line == "GET /end 1" { return seen }
      seen.append(line)
    }
  }

  @Test func `connections are closed when there have been no transfers for a while`() async throws {
    let downloads = try Downloads { $0.idleLimit = 0.05 }
    for _ in 1...2 {
      #expect(try await downloads.fetch(server.url("idle")).result.get().httpStatus == 200)
      let lines = try await [server.line(), server.line()]
      #expect(lines == ["GET /idle 1", "closed"])
    }
  }

  @Test func `a GET is sent again when a kept connection is closed, and counted as often`() async throws {
    #expect(try await fetch("kept", .get) == RequestCount(sent: 1))
    #expect(try await fetch("closed", .get) == RequestCount(sent: 2, reused: 1))
    #expect(try await fetch("kept", .get) == RequestCount(sent: 1, reused: 1))
    #expect(try await seen() == ["GET /kept 1", "GET /closed 2", "GET /closed 1", "GET /kept 2"])
  }

  @Test func `a redirect is a request, also of a transfer that is cancelled after it`() async throws {
    #expect(try await fetch("to/kept", .get) == RequestCount(sent: 2, reused: 1))
    #expect(try await seen() == ["GET /to/kept 1", "GET /kept 2"])
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let request = TransferRequest(
      location: try SourceLocation(parsing: server.url("to/silent")), destination: BodyStore(descriptor: null))
    let (endings, stream) = AsyncStream.makeStream(of: RequestCount?.self)
    let id = downloads.engine.start(request) { result in
      if case .failure(let error) = result { stream.yield(error.requests) } else { stream.yield(nil) }
    }
    #expect(try await server.line() == "GET /to/silent 3")
    #expect(try await server.line() == "GET /silent 4")
    downloads.engine.cancel(id)
    var iterator = endings.makeAsyncIterator()
    #expect(await iterator.next() == RequestCount(sent: 2, reused: 2))
  }

  @Test(arguments: SourceRequest.Method.allCases.filter { $0 != .get })
  func `what is no GET has a connection of its own, and is sent once`(method: SourceRequest.Method) async throws {
    let name = method.rawValue
    #expect(try await fetch("kept", .get) == RequestCount(sent: 1))
    for _ in 0..<2 { #expect(try await fetch("closed", method) == RequestCount(sent: 1)) }
    #expect(try await fetch("kept", .get) == RequestCount(sent: 1, reused: 1), "a GET may use any connection again")
    #expect(try await seen() == ["GET /kept 1", "\(name) /closed 1", "\(name) /closed 1", "GET /kept 2"])
  }
}
