import TestSupport

/// A server of pictures that sends those whose paths begin with `/drip` at 300 bytes a second, until it is told to go on.
final class DripServer: Sendable {
  private let server: PythonServer

  init() throws {
    server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()
        opened = threading.Event()

        def answer(connection, path):
            if path == "/open":
                opened.set()
            sent = 0
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body))
            if path.startswith("/drip"):
                say(path)
                while not opened.wait(0.05):
                    connection.sendall(body[sent:sent + 15])
                    sent += 15
            connection.sendall(body[sent:])

        listener = socket.socket()
        listener.bind(("", 0))
        listener.listen(128)
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=handle, args=(connection,), daemon=True).start()
        """, [packageRoot + "/Samples/hubble-deep-field.jpg"])
  }

  /// - Parameter host: A name of the loopback interface.
  func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(server.port)/\(path)" }

  /// Waits until the next picture drips.
  func nextDrip() throws -> String { try server.nextLine() }

  /// Sends what is left of the pictures that drip.
  func open() throws { try LoopbackSocket.request("/open", port: server.port) }
}
