import TestSupport

/// A server that is asked for `/NAME?FAULT,FAULT,…` and answers the first request with the first fault, the second with
/// the second; when there are no more, with a picture or another file. Faults: a status, a status and its `Retry-After` (`429:2`),
/// `reset`, `half`.
final class FlakyServer: Sendable {
  private let server: PythonServer

  /// A request that came.
  struct Request {
    let path: String

    /// When, in seconds of a clock that never jumps.
    let time: Double
  }

  init(serving file: String = packageRoot + "/Samples/coffee.jpg") throws {
    server = try PythonServer(
      PythonServer.prelude + """
        body = open(sys.argv[1], "rb").read()
        seen = {}
        lock = threading.Lock()

        def answer(connection, path):
            with lock:
                turn = seen[path] = seen.get(path, -1) + 1
            say("%s %f" % (path.split("?")[0], time.monotonic()))
            faults = path.split("?")[1].split(",") if "?" in path else []
            fault = faults[turn] if turn < len(faults) else ""
            head = "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
            if fault == "reset":
                reset(connection)
            elif fault == "half":
                connection.sendall(head.encode() + body[:len(body) // 2])
            elif fault:
                status, _, after = fault.partition(":")
                after = "Retry-After: %s\\r\\n" % after if after else ""
                connection.sendall(("HTTP/1.1 %s X\\r\\n%sConnection: close\\r\\nContent-Length: 0\\r\\n\\r\\n" % (status, after)).encode())
            else:
                connection.sendall(head.encode() + body)

        serve()
        """, [file])
  }

  /// - Parameter host: A name of the loopback interface.
  func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(server.port)/\(path)" }

  /// Waits until the next request has come.
  func nextRequest() throws -> Request {
    let words = try server.nextLine().split(separator: " ")
    return Request(path: String(words[0]), time: Double(words[1]) ?? 0)
  }
}
