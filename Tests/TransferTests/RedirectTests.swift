import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct RedirectTests {
  @Test(
    "references are resolved, and credentials stay with their origin",
    arguments: [
      ("b", "http://u:p@h/a/b"), ("/b?c d", "http://u:p@h/b?c+d"), ("?q", "http://u:p@h/a/x?q"),
      ("//g/b", "http://g/b"), ("http://h/b", "http://u:p@h/b"), ("http://H:80/b", "http://u:p@H:80/b"),
      ("http://h:81/b", "http://h:81/b"), ("https://h/b", "https://h/b"), ("http://g/b", "http://g/b"),
      ("http://v@h/b", "http://v@h/b"), ("HTTPS://g", "https://g/"), ("../../b#f", "http://u:p@h/b"),
    ])
  func target(reference: String, expected: String) throws {
    #expect(try SourceLocation(parsing: "http://u:p@h/a/x?y#z").redirected(to: reference).requestText == expected)
  }

  @Test(
    "what leads elsewhere than to the web is refused, without its secrets",
    arguments: ["file:///etc/passwd", "ftp://u:secret@h/", "javascript:alert(1)", "data:,x", "mailto:a", "FILE:/etc"])
  func scheme(reference: String) throws {
    let base = try SourceLocation(parsing: "http://h/")
    let error = #expect(throws: TransferError.self) { try base.redirected(to: reference) }
    #expect(error?.code == .schemeNotAllowed)
    #expect(error?.message.contains("secret") == false)
  }

  /// Redirects to the path's rest, the port of a second listener in place of `PORT`, and shows what it was asked.
  private static let mirror =
    PythonServer.prelude + """
      other = socket.socket()
      other.bind(("127.0.0.1", 0))
      other.listen(128)

      def handle(connection):
          header = b""
          while b"\\r\\n\\r\\n" not in header:
              piece = connection.recv(65536)
              if not piece:
                  return connection.close()
              header += piece
          path = header.split()[1]
          if path.startswith(b"/to/"):
              target = bytes.fromhex(path[4:].decode()).replace(b"PORT", b"%d" % other.getsockname()[1])
              connection.sendall(b"HTTP/1.1 301 Moved\\r\\nConnection: close\\r\\nLocation: " + target + b"\\r\\n\\r\\n")
          else:
              connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + header)
          connection.close()

      def accept_other():
          while True:
              handle(other.accept()[0])

      threading.Thread(target=accept_other, daemon=True).start()
      serve()
      """

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test("credentials follow to the same host, and to no other")
  func credentials() async throws {
    let server = try PythonServer(Self.mirror)
    let downloads = try Downloads()
    for (target, isSent) in [
      ("/show", true), ("http://127.0.0.1:\(server.port)/show", true), ("//127.0.0.1:PORT/show", false),
      ("http://127.0.0.1:PORT/show", false), ("http://127.0.0.2:\(server.port)/to/", false),
    ] {
      let url = "http://user:secret@127.0.0.1:\(server.port)/to/\(hex(Array(target.utf8)))"
      let (result, body) = try await downloads.fetch(url)
      let shown = String(decoding: body, as: UTF8.self)
      guard case .success(let outcome) = result else { continue }
      #expect(shown.hasPrefix("GET /show HTTP/1.1"))
      #expect(shown.contains("Authorization: ") == isSent, "\(target)")
      #expect(!shown.contains("Referer"))
      #expect(!outcome.finalURL.contains("secret"))
    }
  }

  @Test("bytes beyond ASCII in a Location are sent as they are")
  func latin() async throws {
    let server = try PythonServer(Self.mirror)
    let (result, body) = try await Downloads().fetch(
      server.url("to/" + hex(Array("/caf".utf8) + [0xe9] + Array(" au lait".utf8))))
    _ = try result.get()
    #expect(String(decoding: body, as: UTF8.self).hasPrefix("GET /caf%E9%20au%20lait HTTP/1.1"))
  }

  @Test("a redirected transfer waits for a slot of its new host, and can be cancelled meanwhile")
  func turns() async throws {
    // 127.0.0.1 redirects to 127.0.0.2, which holds each request until /go, and counts how many it holds at once.
    let server = try PythonServer(
      PythonServer.prelude + """
        lock, gate, active, peak = threading.Lock(), threading.Event(), 0, 0

        def answer(connection, path):
            global active, peak
            if path.startswith("/from/"):
                target = "http://127.0.0.2:%d/slow" % connection.getsockname()[1]
                connection.sendall(b"HTTP/1.1 302 Found\\r\\nConnection: close\\r\\nLocation: %s\\r\\n\\r\\n" % target.encode())
                say("sent")
            elif path == "/slow":
                with lock:
                    active += 1
                    peak = max(peak, active)
                    if active == 2:
                        say("full")
                gate.wait(600)
                with lock:
                    active -= 1
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\nslow")
            else:
                if path == "/go":
                    gate.set()
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n%d" % peak)

        listener = socket.socket()
        listener.bind(("0.0.0.0", 0))
        listener.listen(128)
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=handle, args=(connection,), daemon=True).start()
        """)
    let downloads = try Downloads { ($0.perHost, $0.firstByteTimeout) = (HostLimit(fixed: 2), .seconds(600)) }
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let (endings, stream) = AsyncStream.makeStream(of: TransferError.Code?.self)
    let ids = try (0..<6).map { number in
      let request = TransferRequest(
        location: try SourceLocation(parsing: server.url("from/\(number)")), destination: BodyStore(descriptor: null))
      return downloads.engine.start(request) { result in
        let code: TransferError.Code? = if case .failure(let error) = result { error.code } else { nil }
        stream.yield(code)
      }
    }
    // All were redirected, as 127.0.0.1 is not kept waiting by 127.0.0.2; two are there.
    var lines: [String] = []
    while lines.count < 7 { lines.append(try server.nextLine()) }
    #expect(lines.filter { $0 == "full" }.count == 1)
    downloads.engine.cancel(ids[5])
    var iterator = endings.makeAsyncIterator()
    #expect(await iterator.next() == .some(.cancelled))
    _ = try await Downloads().fetch(server.url("go"))
    for _ in 0..<5 { #expect(await iterator.next() == .some(nil)) }
    #expect(String(decoding: try await downloads.fetch(server.url("peak")).body, as: UTF8.self) == "2")
  }
}
