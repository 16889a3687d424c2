import TestSupport

/// A server whose paths say what is answered: `/ok/NAME` a picture, `/missing/NAME` 404, `/once/NAME` 503 the first time,
/// `/never/NAME` 503, `/held/NAME` 429 for a long time; `/gate/NAME` a picture and `/gone/NAME` 404 when the test lets it.
final class EntryStatesServer: Sendable {
  private let server: PythonServer

  init() throws {
    server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()
        gate = threading.Event()
        seen = set()

        def send(connection, status, body=b"", more=""):
            head = "HTTP/1.1 %s X\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n%s\\r\\n" % (status, len(body), more)
            connection.sendall(head.encode() + body)

        def answer(connection, path):
            kind = path.split("/")[1]
            if kind == "open":
                gate.set()
                return send(connection, 200)
            if kind in ("gate", "gone"):
                say(path)
                gate.wait()
            is_new = path not in seen
            seen.add(path)
            if kind in ("missing", "gone"):
                send(connection, 404)
            elif kind == "never" or kind == "once" and is_new:
                send(connection, 503)
            elif kind == "held":
                send(connection, 429, more="Retry-After: 1000\\r\\n")
            else:
                send(connection, 200, body)

        serve()
        """, [packageRoot + "/Samples/chelsea-small.png"])
  }

  /// Waits until the next request has come that is not answered yet, and returns its path.
  func nextRequest() throws -> String { try server.nextLine() }

  /// Has all requests answered from now on.
  func open() throws { try LoopbackSocket.request("/open", port: server.port) }

  /// - Parameter host: A name of the loopback interface.
  func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(server.port)/\(path)" }
}
