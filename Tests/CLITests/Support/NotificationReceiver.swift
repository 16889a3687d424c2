import Foundation
import TestSupport
import Testing

/// A receiver of notifications that tells the test of each request, and answers as it is told.
struct NotificationReceiver {
  static let secret = "key of the test"

  private let server: PythonServer
  var port: Int { server.port }

  /// A request that came.
  struct Request {
    let method: String
    let path: String
    /// By their names in lower case.
    let headers: [String: String]
    let body: String
    /// Whether the signature is that of the body by `secret`.
    let isSigned: Bool

    /// The body, read.
    var members: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
    }

    var id: String? { members["id"] as? String }
    var state: String? { members["state"] as? String }
  }

  /// - Parameter answers: Of the first request, the second and so on; the last one also of all later ones. A status, one with the
  ///   URL of a redirect after a blank, or `hang`.
  init(_ answers: String...) throws {
    server = try PythonServer(
      """
      import hashlib, hmac, http.server, json, os, sys, threading, time

      secret, answers = sys.argv[1].encode(), sys.argv[2:]
      lock = threading.Lock()

      class Receiver(http.server.BaseHTTPRequestHandler):
          def do_POST(self):
              body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
              signature = "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()
              with lock:
                  answer = answers.pop(0) if len(answers) > 1 else answers[0]
              request = {
                  "method": self.command, "path": self.path, "body": body.decode(),
                  "headers": {name.lower(): value for name, value in self.headers.items()},
                  "isSigned": signature == self.headers.get("Darkroom-Signature")}
              os.write(1, (json.dumps(request) + "\\n").encode())
              while answer == "hang":
                  time.sleep(1)
              status, _, location = answer.partition(" ")
              self.send_response(int(status))
              if location:
                  self.send_header("Location", location)
              self.send_header("Content-Length", "0")
              self.end_headers()

          do_GET = do_POST

          def log_message(self, *arguments):
              pass

      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
      print(server.server_port, flush=True)
      server.serve_forever()
      """, [Self.secret] + answers)
  }

  func url(_ path: String = "", user: String = "") -> String { "http://\(user)127.0.0.1:\(port)/\(path)" }

  /// Waits until the next request has come.
  func nextRequest() throws -> Request {
    let line = Data(try server.nextLine().utf8)
    let json = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
    return Request(
      method: json["method"] as? String ?? "", path: json["path"] as? String ?? "",
      headers: json["headers"] as? [String: String] ?? [:], body: json["body"] as? String ?? "",
      isSigned: json["isSigned"] as? Bool ?? false)
  }

  /// The requests that have come, but those that were waited for. The last answer must not be `hang`.
  func requestsSoFar() throws -> [Request] {
    try LoopbackSocket.request("/end", port: port)
    var requests: [Request] = []
    while requests.last?.path != "/end" { requests.append(try nextRequest()) }
    return requests.dropLast()
  }
}
