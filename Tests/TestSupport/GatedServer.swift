/// A server that says which paths it was asked for, and answers with the contents of a file when the test lets it, or with the
/// status that the path ends in (`?404`), the first time only after `?once=`.
package final class GatedServer: Sendable {
  private let server: PythonServer

  /// - Parameter file: What every request is answered with.
  package init(serving file: String) throws {
    server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()
        gate = threading.Semaphore(0)
        seen = set()

        def answer(connection, path):
            if path.startswith("/note/"):
                say(path[5:])
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
                return
            if path.startswith("/release/"):
                for _ in range(int(path[9:])):
                    gate.release()
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
                return
            say(path)
            gate.acquire()
            isOnce = path[-9:-3] == "?once="
            status = path[-3:] if path[-4:-2] in ("?4", "?5") or isOnce and path not in seen else "200"
            seen.add(path)
            head = "HTTP/1.1 %s X\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % (status, len(body))
            connection.sendall(head.encode() + body)

        serve()
        """, [file])
  }

  package func url(_ path: String) -> String { server.url(path) }

  /// Waits until the next request has come, and returns its path.
  package func nextRequest() throws -> String { try server.nextLine() }

  /// Has the server tell of a request of the test's own, after all that came before.
  package func note(_ name: String) throws { try LoopbackSocket.request("/note/" + name, port: server.port) }

  /// The requests that have come, but those that were waited for.
  package func requestsSoFar() throws -> [String] {
    try note("end")
    var paths: [String] = []
    while paths.last != "/end" { paths.append(try nextRequest()) }
    return paths.dropLast()
  }

  /// Lets a number of requests be answered: those that wait, or that come.
  package func release(_ count: Int) throws {
    try LoopbackSocket.request("/release/\(count)", port: server.port)
  }
}
