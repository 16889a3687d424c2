import Foundation
import TestSupport

/// A server of pictures that answers so many requests and then listens no more, until it is started again.
final class RestartedServer: Sendable {
  private let server: PythonServer
  private let folder: TemporaryFolder

  /// - Parameter requests: How many are answered before it goes away.
  init(answering requests: Int) throws {
    folder = try TemporaryFolder()
    server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()
        flag, left = sys.argv[2], int(sys.argv[3])
        lock = threading.Lock()
        listener, port = None, 0

        def listen():
            global listener, port
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("", port))
            listener.listen(128)
            port = listener.getsockname()[1]

        def answer(connection, path):
            global left
            with lock:
                left -= 1
                if left == 0:
                    # Whoever waits in `accept` returns.
                    listener.shutdown(socket.SHUT_RDWR)
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)

        listen()
        print(port, flush=True)
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                listener.close()
                while not os.path.exists(flag):
                    time.sleep(0.02)
                listen()
                continue
            threading.Thread(target=handle, args=(connection,), daemon=True).start()
        """, [packageRoot + "/Samples/chelsea.jpg", folder.file("start"), String(requests)])
  }

  /// Has it listen again.
  func start() throws { try Data().write(to: URL(fileURLWithPath: folder.file("start"))) }

  /// - Parameter host: A name of the loopback interface.
  func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(server.port)/\(path)" }
}
