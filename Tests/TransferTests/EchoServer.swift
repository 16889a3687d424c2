import TestSupport

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
