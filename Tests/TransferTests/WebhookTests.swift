import System
import TestSupport
import Testing

@testable import Transfer

/// Requests to the receiver of notifications, with an answer for each path.
@Suite(.blocking) struct WebhookTests {
  private func server() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + """
        def answer(connection, path):
            say(path)
            head = "HTTP/1.1 %s X\\r\\nConnection: close\\r\\n%s\\r\\n"
            if path == "/hang":
                stall(connection)
            elif path == "/reset":
                reset(connection)
            elif path == "/endless":
                connection.sendall((head % ("200", "")).encode())
                while True:
                    connection.sendall(b"x" * 65536)
            elif path == "/short":
                connection.sendall((head % ("202", "Content-Length: 10\\r\\n")).encode() + b"x")
            elif path == "/later":
                connection.sendall((head % ("503", "Retry-After: 7\\r\\nContent-Length: 0\\r\\n")).encode())
            elif path == "/away":
                connection.sendall((head % ("302", "Location: /target\\r\\nContent-Length: 0\\r\\n")).encode())
            else:
                connection.sendall((head % (path[1:], "Content-Length: 0\\r\\n")).encode())

        serve()
        """)
  }

  private func send(
    _ url: String, timeout: Duration = .seconds(30), wait: () -> Bool = { true }
  ) throws -> WebhookRequest.Answer {
    let mailbox = try Mailbox<Void>()
    var request = WebhookRequest(
      "{}", fields: ["Darkroom-Id: 1"], to: try Webhook(parsing: url), configuration: TransferConfiguration())
    request.timeout = timeout
    return request.send { watch in
      mailbox.wait(by: watch)
      return wait()
    }
  }

  @Test(arguments: [
    ("204", WebhookRequest.Answer.status(204)), ("500", .status(500)), ("410", .status(410)),
    ("later", .status(503, retryAfter: 7)), ("away", .status(302)), ("endless", .status(200)), ("short", .status(202)),
  ])
  func `the status is the answer, whatever follows, and a redirect is not followed`(
    path: String, answer: WebhookRequest.Answer
  ) throws {
    let server = try server()
    #expect(try send(server.url(path)) == answer)
    #expect(try server.nextLine() == "/" + path)
    try LoopbackSocket.request("/204", port: server.port)
    #expect(try server.nextLine() == "/204")
  }

  @Test func `one that answers nothing has its time, and the caller may end it before`() throws {
    let server = try server()
    guard case .noAnswer(let why) = try send(server.url("hang"), timeout: .milliseconds(300)) else {
      Issue.record("there was an answer")
      return
    }
    #expect(why.contains("timed out"))
    #expect(try send(server.url("hang"), wait: { false }) == .cancelled)
    guard case .noAnswer = try send(server.url("reset")) else {
      Issue.record("there was an answer")
      return
    }
  }

  @Test(arguments: [
    ("https://user:secret@hooks.example:8443/a?b=secret", "https://hooks.example:8443"),
    ("http://Hooks.Example", "http://hooks.example"), ("http://[::1]:80/x", "http://[::1]:80"),
  ])
  func `messages name the receiver without what may be secret`(url: String, origin: String) throws {
    #expect(try Webhook(parsing: url).origin == origin)
  }

  @Test(arguments: [
    "ftp://user:secret@h/", "hooks.example/x", "file:///etc/passwd", "user:secret@h", "http://user:secret@", "",
  ])
  func `another URL is an error without secrets`(text: String) {
    let error = #expect(throws: ParseError.self) { try Webhook(parsing: text) }
    #expect(error?.message.hasPrefix("must be an http or https URL") == true)
    #expect(error?.message.contains("secret") == false)
  }
}
