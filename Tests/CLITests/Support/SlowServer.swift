import TestSupport

/// A server that answers each request after a while with a picture, and reports the requests as they come. Paths that begin
/// with `/refused` are answered with 429 and `Retry-After: 60`.
final class SlowServer: Sendable {
  private let server: PythonServer

  /// - Parameter seconds: How long each answer takes.
  init(seconds: Double) throws {
    server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()

        def answer(connection, path):
            say(path)
            if path.startswith("/refused"):
                connection.sendall(b"HTTP/1.1 429 X\\r\\nRetry-After: 60\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n")
                return
            time.sleep(float(sys.argv[2]))
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)

        serve()
        """, [packageRoot + "/Samples/chelsea.jpg", String(seconds)])
  }

  /// - Parameter host: A name of the loopback interface.
  func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(server.port)/\(path)" }

  /// Waits for the next request, and returns its path.
  func nextRequest() throws -> String { try server.nextLine() }
}
