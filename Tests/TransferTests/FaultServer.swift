import TestSupport

/// A server that misbehaves in the way that the path names.
enum FaultServer {
  private static let one = Shared { try start() }

  /// One for all tests that do not wait for what it says.
  static var shared: PythonServer { get throws { try one.value } }

  static func start() throws -> PythonServer { try PythonServer(PythonServer.prelude + script) }

  private static let script = #"""
    import base64, email.utils, urllib.parse

    def answer(connection, path):
        port = connection.getsockname()[1]
        send = connection.sendall
        def redirect(target):
            send(("HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 5\r\n\r\nmoved" % target).encode())
        if path == "/ok":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        elif path == "/reset":
            reset(connection)
        elif path == "/empty":
            pass
        elif path == "/stall-before-header":
            stall(connection)
        elif path == "/after-half-a-second":
            time.sleep(0.5)
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        elif path == "/think-before-header":
            time.sleep(2.5)
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        elif path == "/think-before-body":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            time.sleep(2.5)
            send(b"hello")
        elif path == "/redirect-to-thinking":
            redirect("/think-before-header")
        elif path == "/stall-before-body":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            stall(connection)
        elif path == "/stall-mid-body":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
            say("stalled")
            stall(connection)
        elif path == "/endless":
            send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                send(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        elif path == "/announced-too-large":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            stall(connection)
        elif path == "/short":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
        elif path == "/long":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world")
        elif path == "/long-after-header":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
            time.sleep(0.1)
            send(b"hello, world")
        elif path == "/endless-after-length":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" + b"x" * 1000)
            while True:
                send(b"x" * 4096)
        elif path == "/poisoned":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            time.sleep(0.2)
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
            say("poisoned")
            stall(connection)
        elif path == "/without-length":
            send(b"HTTP/1.0 200 OK\r\n\r\nhello")
        elif path == "/length-and-chunks":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        elif path == "/gzip":
            send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n" + base64.b64decode("H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="))
        elif path == "/html":
            send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<p>hello</p>")
        elif path == "/trickle":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            while True:
                send(b"x")
                time.sleep(1)
        elif path == "/trickling-header":
            for letter in b"HTTP/1.1 200 OK\r\n" + b"X-Filler: x\r\n" * 1000:
                send(bytes([letter]))
                time.sleep(0.05)
        elif path == "/early-hints-for-ever":
            while True:
                send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 100)
        elif path == "/heavy-redirects":
            send(b"HTTP/1.1 302 Found\r\nLocation: /heavy-redirects\r\nContent-Length: 0\r\nX: " + b"x" * 80000 + b"\r\n\r\n")
        elif path == "/slow-redirects":
            time.sleep(0.1)
            redirect("/slow-redirects")
        elif path == "/endless-redirect-body":
            send(b"HTTP/1.1 302 Found\r\nLocation: /ok\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                send(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        elif path == "/short-redirect-body":
            send(b"HTTP/1.1 302 Found\r\nLocation: /ok\r\nContent-Length: 100\r\n\r\nmoved")
        elif path == "/redirect-nowhere":
            redirect("")
        elif path == "/short-chunked":
            send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhello")
        elif path == "/reset-mid-body":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")
            reset(connection)
        elif path.startswith("/cut-header/"):
            send(("HTTP/1.1 %s Cut\r\nETag: \"a\"\r\nLocation: /ok\r\nContent-Range: bytes 0-4/9\r\nContent-Le" % path[12:]).encode())
        elif path == "/huge-length":
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nhello")
        elif path == "/redirect-twice-said":
            send(b"HTTP/1.1 302 Found\r\nLocation: /ok\r\nLocation: /empty\r\nContent-Length: 0\r\n\r\n")
        elif path == "/redirect-to-long":
            redirect("/" + "a" * 70000)
        elif path == "/redirect":
            redirect("/ok")
        elif path == "/redirect-loop":
            redirect("/redirect-loop")
        elif path == "/redirect-to-file":
            redirect("file:///etc/passwd")
        elif path == "/redirect-to-unknown-scheme":
            redirect("gemini://127.0.0.1/")
        elif path == "/redirect-to-ftp":
            redirect("FTP://user:secret@127.0.0.1/")
        elif path == "/redirect-to-private":
            redirect("http://10.0.0.1/")
        elif path == "/redirect-to-metadata":
            redirect("http://user:secret@169.254.169.254/latest")
        elif path == "/redirect-without-target":
            send(b"HTTP/1.1 302 Found\r\nContent-Length: 5\r\n\r\nmoved")
        elif path == "/redirect-to-nonsense":
            redirect("http://user:secret@[/")
        elif path == "/redirect-to-broken-userinfo":
            redirect("http://user:a/secret@127.0.0.1/")
        elif path == "/huge-error":
            send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 1000000000\r\n\r\n")
            stall(connection)
        elif path == "/endless-error":
            send(b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n")
            while True:
                send(b"1000\r\n" + b"x" * 4096 + b"\r\n")
        elif path == "/partial":
            send(b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-4/9\r\nContent-Length: 5\r\n\r\nhello")
        elif path == "/no-content":
            send(b"HTTP/1.1 204 No Content\r\n\r\n")
        elif path == "/early-hints":
            send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        elif path == "/garbage":
            send(b"\x00\x01\x02\x03" * 1000)
        elif path == "/http-0.9":
            send(b"<html>hello</html>")
        elif path == "/many-headers":
            send(b"HTTP/1.1 200 OK\r\n" + b"X-Filler: 0123456789\r\n" * 200000 + b"\r\nhello")
        elif path == "/long-header":
            send(b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * (4 << 20) + b"\r\n\r\nhello")
        elif path.startswith("/retry-after/"):
            _, _, status, value = path.split("/", 3)
            value = urllib.parse.unquote(value).replace("NOW+30", email.utils.formatdate(time.time() + 30, usegmt=True))
            send(("HTTP/1.1 %s Later\r\nRetry-After: %s\r\nContent-Length: 5\r\n\r\nlater" % (status, value)).encode())
        elif path.startswith("/status/"):
            send(b"HTTP/1.1 %s Status\r\nContent-Length: 5\r\n\r\nerror" % path[8:].encode())

    serve()
    """#
}
