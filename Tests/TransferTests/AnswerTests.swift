import Foundation
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) final class AnswerTests {
  private let null = open("/dev/null", O_WRONLY | O_CLOEXEC)

  deinit { close(null) }

  @Test(arguments: [true, false]) func `an answer is reported once, as soon as it begins`(isRedirected: Bool)
    async throws
  {
    let server = try PythonServer(
      PythonServer.prelude + """
        gate = threading.Event()

        def answer(connection, path):
            if path == "/go":
                gate.set()
            if path == "/redirect":
                head = "HTTP/1.1 302 Found\\r\\nLocation: /ok\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n"
                return connection.sendall(head.encode())
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 2\\r\\n\\r\\n")
            gate.wait()
            connection.sendall(b"ok")

        serve()
        """)
    let downloads = try Downloads()
    let (events, stream) = AsyncStream.makeStream(of: String.self)
    let request = TransferRequest(
      location: try SourceLocation(parsing: server.url(isRedirected ? "redirect" : "ok")),
      destination: BodyStore(descriptor: null),
      answered: { stream.yield("answered") })
    downloads.engine.start(request) { _ in
      stream.yield("ended")
      stream.finish()
    }
    var iterator = events.makeAsyncIterator()
    #expect(await iterator.next() == "answered")
    _ = try await downloads.fetch(server.url("go")).result.get()
    #expect(await iterator.next() == "ended")
    #expect(await iterator.next() == nil)
  }
}
