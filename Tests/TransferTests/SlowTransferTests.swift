import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

/// Transfers that are too slow leave their slots to others of their host.
@Suite(.blocking) struct SlowTransferTests {
  /// A server at all addresses of the loopback network. It says which path was asked for; `/from/x` redirects to `/x` at
  /// 127.0.0.2, `/quick` is answered at once, and other answers wait until one of them is released.
  private func server() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + """
        gate = threading.Semaphore(0)

        def answer(connection, path):
            head = b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n"
            if path == "/release":
                gate.release()
            elif path == "/quick":
                pass
            elif path.startswith("/from/"):
                target = "http://127.0.0.2:%d%s" % (connection.getsockname()[1], path[5:])
                head = b"HTTP/1.1 302 Found\\r\\nConnection: close\\r\\nLocation: %s\\r\\n\\r\\n" % target.encode()
            else:
                say(path)
                gate.acquire()
            connection.sendall(head)

        listener = socket.socket()
        listener.bind(("0.0.0.0", 0))
        listener.listen(128)
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=handle, args=(connection,), daemon=True).start()
        """)
  }

  @Test func `a transfer that becomes slow before it has its slot leaves it as soon as it has it`() async throws {
    let server = try server()
    let downloads = try Downloads {
      ($0.perHost.connections, $0.perHost.streams, $0.firstByteTimeout) = (1, 2, .seconds(600))
    }
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let (endings, stream) = AsyncStream.makeStream(of: String.self)
    func start(_ path: String, at host: String) throws -> TransferID {
      let url = server.url(path).replacing("127.0.0.1", with: host)
      return downloads.engine.start(
        TransferRequest(location: try SourceLocation(parsing: url), destination: BodyStore(descriptor: null))
      ) {
        if case .failure(let error) = $0 { stream.yield(error.message) } else { stream.yield("\(path): well") }
      }
    }
    _ = try start("first", at: "127.0.0.2")
    #expect(try server.nextLine() == "/first")
    let redirected = try start("from/redirected", at: "127.0.0.1")
    // It gets the slot that the redirected one leaves, which waits at the other host from then on.
    _ = try start("quick", at: "127.0.0.1")
    var iterator = endings.makeAsyncIterator()
    #expect(await iterator.next() == "quick: well")
    downloads.engine.leaveSlot(redirected)
    _ = try start("third", at: "127.0.0.2")
    _ = try await Downloads().fetch(server.url("release"))
    // One slot, and one more because what has it is slow.
    #expect(try Set([server.nextLine(), server.nextLine()]) == ["/redirected", "/third"])
    for _ in 0..<2 { _ = try await Downloads().fetch(server.url("release")) }
    for _ in 0..<3 {
      let ending = await iterator.next()
      #expect(ending?.hasSuffix(": well") == true, "\(ending ?? "")")
    }
  }

  @Test func `what waits is behind slow transfers no longer than these have the slots`() async throws {
    let server = try server()
    let downloads = try Downloads { ($0.perHost, $0.firstByteTimeout) = (HostLimit(fixed: 1), .seconds(600)) }
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let (endings, stream) = AsyncStream.makeStream(of: Bool.self)
    func start(_ path: String, _ progress: TransferProgress? = nil) throws -> TransferID {
      let location = try SourceLocation(parsing: server.url(path))
      return downloads.engine.start(
        TransferRequest(location: location, destination: BodyStore(descriptor: null), progress: progress)
      ) {
        stream.yield((try? $0.get()) != nil)
      }
    }
    let first = try start("first")
    #expect(try server.nextLine() == "/first")
    let waiting = [TransferProgress(), TransferProgress(), TransferProgress()]
    for (number, progress) in waiting.enumerated() { _ = try start("waiting\(number)", progress) }
    downloads.engine.leaveSlot(first)
    // What is ordered later has ended, so it is known.
    let quick = server.url("quick").replacing("127.0.0.1", with: "127.0.0.2")
    _ = try await downloads.fetch(quick)
    #expect(waiting.map(\.isBehindSlow) == [true, true, true])
    _ = try await Downloads().fetch(server.url("release"))
    var iterator = endings.makeAsyncIterator()
    #expect(await iterator.next() == true)
    #expect(waiting.map(\.isBehindSlow) == [false, false, false])
    for _ in waiting {
      _ = try await Downloads().fetch(server.url("release"))
      #expect(await iterator.next() == true)
    }
  }
}
