import Foundation
import TestSupport

/// A server that tells each request, whole, and answers it with a picture: those for `/NAME?FAULT,FAULT,…` first with
/// the faults, which are statuses.
final class DeskServer: Sendable {
  private let server: PythonServer

  /// A request as it came.
  struct Request: Decodable, Equatable {
    let method: String
    let path: String
    /// By names in lower case.
    let headers: [String: String]
    let body: String
  }

  init() throws {
    server = try PythonServer(
      PythonServer.prelude + """
        import json
        picture = open(sys.argv[1], "rb").read()
        seen = {}
        lock = threading.Lock()

        def handle(connection):
            with connection:
                received = b""
                def more():
                    piece = connection.recv(65536)
                    if not piece:
                        raise EOFError
                    return piece
                while b"\\r\\n\\r\\n" not in received:
                    received += more()
                head, _, body = received.partition(b"\\r\\n\\r\\n")
                lines = head.decode().split("\\r\\n")
                headers = {n.strip().lower(): v.strip() for n, _, v in (line.partition(":") for line in lines[1:])}
                while len(body) < int(headers.get("content-length", 0)):
                    body += more()
                method, target, _ = lines[0].split()
                path, _, faults = target.partition("?")
                with lock:
                    turn = seen[path] = seen.get(path, -1) + 1
                say(json.dumps({"method": method, "path": path, "headers": headers, "body": body.decode()}))
                faults = faults.split(",") if faults else []
                if turn < len(faults):
                    connection.sendall(("HTTP/1.1 %s X\\r\\nConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n" % faults[turn]).encode())
                else:
                    head = "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(picture)
                    connection.sendall(head.encode() + picture)

        threading.excepthook = lambda _: None
        serve()
        """, [packageRoot + "/Samples/coffee.jpg"])
  }

  /// - Parameter host: A name of the loopback interface; `user:password@` may stand before it.
  func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(server.port)/\(path)" }

  /// Waits until the next request has come.
  func nextRequest() throws -> Request {
    try JSONDecoder().decode(Request.self, from: Data(server.nextLine().utf8))
  }
}
