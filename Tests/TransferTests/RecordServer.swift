import TestSupport

/// A server of HTTP/1.1 over TLS that decides what goes into which record: the path names what it sends. The records of
/// an answer leave in one piece.
enum RecordServer {
  static let versions = ["TLSv1_2", "TLSv1_3"]

  private static let one = Dictionary(
    uniqueKeysWithValues: versions.map { version in (version, Shared { try start(version: version) }) })

  /// One of a version for all tests that do not wait for what it says.
  static func shared(version: String) throws -> PythonServer {
    guard let server = one[version] else { throw UnknownVersion(name: version) }
    return try server.value
  }

  static func start(version: String) throws -> PythonServer {
    try PythonServer(PythonServer.prelude + script, try Certificates.shared.files(.none) + [version])
  }

  private struct UnknownVersion: Error {
    let name: String
  }

  private static let script = #"""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    context.minimum_version = context.maximum_version = ssl.TLSVersion[sys.argv[3]]
    header = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

    def handle(connection):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = context.wrap_bio(incoming, outgoing, server_side=True)
        def send(*records):
            for record in records:
                session.write(record)
            connection.sendall(outgoing.read())
        def complete(step):
            while True:
                try:
                    return step()
                except ssl.SSLWantReadError:
                    connection.sendall(outgoing.read())
                    piece = connection.recv(65536)
                    if not piece:
                        raise OSError
                    incoming.write(piece)
        try:
            complete(session.do_handshake)
            while True:
                request = b""
                while b"\r\n\r\n" not in request:
                    piece = complete(lambda: session.read(65536))
                    if not piece:
                        return
                    request += piece
                path = request.split()[1].decode()
                if path == "/one-record":
                    send(header + b"hello, world")
                elif path == "/record-after-header":
                    send(header, b"hello, world")
                elif path == "/later-record":
                    send(header, b"hello", b", world")
                elif path == "/later-record-of-whole-answer":
                    send(header + b"hello", b", world")
                elif path == "/exact":
                    send(header, b"hello")
                elif path == "/exact-and-close":
                    session.write(header + b"hello")
                    try:
                        session.unwrap()
                    except ssl.SSLWantReadError:
                        pass
                    send()
                    return
                elif path == "/exact-and-half-a-record":
                    session.write(header + b"hello")
                    answer = outgoing.read()
                    session.write(b", world")
                    connection.sendall(answer + outgoing.read()[:9])
                elif path == "/poisoned":
                    send(header, b"hello")
                    time.sleep(0.2)
                    send(header + b"venom")
                    say("poisoned")
        except (OSError, ssl.SSLError):
            pass
        finally:
            connection.close()

    serve()
    """#
}
