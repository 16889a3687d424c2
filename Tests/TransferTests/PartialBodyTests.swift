import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

/// Bodies that broke off, and what the next transfer makes of what is there.
@Suite(.blocking) struct PartialBodyTests {
  /// 100 000 bytes that differ wherever they are cut.
  static let body = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })

  /// A server that breaks off its first answer for each path, after 40 000 bytes, and says what it was asked for. The path
  /// names how it answers then.
  private func server() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + #"""
        import email.utils
        body = bytes((n * 7 + (n >> 8)) & 255 for n in range(100000))
        seen = {}

        def handle(connection):
            head = b""
            while b"\r\n\r\n" not in head:
                piece = connection.recv(65536)
                if not piece:
                    return connection.close()
                head += piece
            lines = head.decode().split("\r\n")
            path = lines[0].split(" ")[1]
            fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
            say("%s %s %s" % (path, fields.get("range", "-"), fields.get("if-range", "-")))
            seen[path] = seen.get(path, 0) + 1
            try:
                answer(connection, path, fields)
            except OSError:
                pass
            connection.close()

        def answer(connection, path, fields):
            def send(status, content, *lines):
                head = ["HTTP/1.1 " + status, "Connection: close", *lines]
                connection.sendall("\r\n".join(head).encode() + b"\r\n\r\n" + content)
            def rest(first, lines=(), cut=None, total=100000, last=None):
                last = total - 1 if last is None else last
                content = body[first:last + 1]
                send("206 Part", content[:cut], "Content-Range: bytes %d-%d/%s" % (first, last, total),
                     "Content-Length: %d" % len(content), *lines)
            kind = path[1:]
            tag = 'ETag: "one"'
            if kind == "weak":
                tag = 'ETag: W/"one"'
            elif kind == "dated":
                tag = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nDate: " + email.utils.formatdate(usegmt=True)
            elif kind == "fresh":
                now = email.utils.formatdate(usegmt=True)
                tag = "Last-Modified: %s\r\nDate: %s" % (now, now)
            elif kind == "none":
                tag = "X-None: 1"
            elif kind == "refused":
                tag += "\r\nAccept-Ranges: none"
            if seen[path] == 1:
                if kind == "chunked":
                    send("200 OK", b"9c40\r\n" + body[:40000] + b"\r\n", tag, "Transfer-Encoding: chunked")
                else:
                    send("200 OK", body[:40000], tag, "Content-Length: 100000")
            elif kind == "busy" and seen[path] == 2:
                send("503 Busy", b"later", "Content-Length: 5")
            elif kind.startswith("cut-header") and seen[path] == 2:
                connection.sendall(b"HTTP/1.1 " + kind[-3:].encode() + b" Cut\r\nContent-Range: bytes 40000-99999/100000\r\nETag: ")
            elif kind == "twice" and seen[path] == 2:
                rest(40000, [tag], cut=30000)
            elif "range" not in fields:
                send("200 OK", body, tag, "Content-Length: 100000")
            elif kind == "whole":
                send("200 OK", body, tag, "Content-Length: 100000")
            elif kind == "shorter":
                send("200 OK", body[:5], 'ETag: "two"', "Content-Length: 5")
            elif kind.startswith("begin"):
                rest(0, [tag], cut=30000 if kind == "begin-cut" else None)
            elif kind.startswith("gap"):
                rest(40001, [tag], cut=30000 if kind == "gap-cut" else None)
            elif kind == "less":
                rest(40000, [tag], last=50000)
            elif kind == "other-total":
                rest(40000, [tag], total=99999)
            elif kind == "unknown-total":
                send("206 Part", body[40000:], "Content-Range: bytes 40000-99999/*", "Content-Length: 60000", tag)
            elif kind == "other-tag":
                rest(40000, ['ETag: "two"'])
            elif kind == "no-range":
                send("206 Part", body[40000:], "Content-Length: 60000", tag)
            elif kind == "wrong-length":
                send("206 Part", body[40000:], "Content-Range: bytes 40000-99999/100000", "Content-Length: 59999", tag)
            elif kind == "long-chunks":
                send("206 Part", b"ffff\r\n" + body[:65535] + b"\r\n0\r\n\r\n", tag,
                     "Content-Range: bytes 40000-99999/100000", "Transfer-Encoding: chunked")
            elif kind == "trailers":
                send("206 Part", b"ea60\r\n" + body[40000:] + b"\r\n0\r\nContent-Range: bytes 0-1/2\r\nETag: \"two\"\r\n\r\n",
                     tag, "Content-Range: bytes 40000-99999/100000", "Transfer-Encoding: chunked", "Trailer: ETag")
            elif kind == "416":
                send("416 No", b"no", "Content-Range: bytes */100000", "Content-Length: 2")
            elif kind == "lie":
                send("206 Part", bytes(60000), "Content-Range: bytes 40000-99999/100000", "Content-Length: 60000", tag)
            else:
                rest(int(fields["range"][6:-1]), [] if kind == "bare" else [tag])

        serve()
        """#)
  }

  /// Tries a URL until it succeeds.
  private func fetch(
    _ url: String, _ downloads: Downloads, tries: Int = 2, checksum: Checksum? = nil
  ) async throws -> (outcomes: [Result<TransferOutcome, TransferError>], left: [Int?], body: Data) {
    let path = downloads.folder.file("file")
    let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    defer { close(file) }
    let partial = PartialBody()
    var (outcomes, left): ([Result<TransferOutcome, TransferError>], [Int?]) = ([], [])
    for _ in 0..<tries {
      if partial.bytes == nil {
        ftruncate(file, 0)
        lseek(file, 0, SEEK_SET)
      }
      let request = TransferRequest(
        location: try SourceLocation(parsing: url), destination: BodyStore(descriptor: file), checksum: checksum,
        partial: partial)
      let result = await withCheckedContinuation { continuation in
        downloads.engine.start(request) { continuation.resume(returning: $0) }
      }
      outcomes.append(result)
      left.append(partial.bytes)
      if case .success = result { break }
    }
    return (outcomes, left, try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private static let digest = {
    let digest = MessageDigest()
    body.withUnsafeBytes { digest.update($0) }
    return digest.hexDigest()
  }()

  @Test(arguments: ["tagged", "dated", "chunked", "bare", "trailers"])
  func `a body that broke off goes on where it was`(kind: String) async throws {
    for algorithm in ["sha-256", "md5", ""] {
      let (server, downloads) = (try server(), try Downloads())
      let (outcomes, left, body) = try await fetch(
        server.url(kind), downloads, checksum: try Self.checksum(algorithm))
      #expect(left == [40_000, nil])
      guard case .failure(let error) = outcomes[0] else {
        Issue.record("the first should break off")
        return
      }
      #expect(error.code == .truncated && error.bytes == 40_000)
      let outcome = try outcomes[1].get()
      #expect(outcome.httpStatus == 206 && outcome.bytes == 100_000 && outcome.received == 60_000)
      #expect(outcome.sha256 == Self.digest && body == Self.body)
      #expect((kind == "dated") == (outcome.validators?.etag == nil) && outcome.validators != nil)
      #expect(try server.nextLine() == "/\(kind) - -")
      let condition = kind == "dated" ? "mon, 01 jan 2024 00:00:00 gmt" : "\"one\""
      #expect(try server.nextLine() == "/\(kind) bytes=40000- \(condition)")
    }
  }

  private static func checksum(_ algorithm: String) throws -> Checksum? {
    guard let kind = MessageDigest.Algorithm(rawValue: algorithm) else { return nil }
    let digest = MessageDigest(kind)
    body.withUnsafeBytes { digest.update($0) }
    return try Checksum(parsing: "\(algorithm)=\(digest.hexDigest())")
  }

  @Test func `it may break off again, and go on from there`() async throws {
    let (server, downloads) = (try server(), try Downloads())
    let (outcomes, left, body) = try await fetch(server.url("twice"), downloads, tries: 3)
    #expect(left == [40_000, 70_000, nil])
    let outcome = try outcomes[2].get()
    #expect(outcome.bytes == 100_000 && outcome.received == 30_000)
    #expect(outcome.sha256 == Self.digest && body == Self.body)
  }

  @Test(arguments: ["busy", "cut-header-200", "cut-header-206"])
  func `an error in between leaves what is there`(kind: String) async throws {
    let (server, downloads) = (try server(), try Downloads())
    let (outcomes, left, body) = try await fetch(server.url(kind), downloads, tries: 3)
    #expect(left == [40_000, 40_000, nil])
    #expect(try outcomes[2].get().received == 60_000 && body == Self.body)
  }

  @Test(arguments: ["weak", "fresh", "none", "refused"])
  func `without a strong validator, or of a server that sends no parts, it starts anew`(kind: String) async throws {
    let (server, downloads) = (try server(), try Downloads())
    let (outcomes, left, body) = try await fetch(server.url(kind), downloads)
    #expect(left[0] == nil)
    let outcome = try outcomes[1].get()
    #expect(outcome.httpStatus == 200 && outcome.received == 100_000 && body == Self.body)
    #expect(try server.nextLine() == "/\(kind) - -")
    #expect(try server.nextLine() == "/\(kind) - -")
  }

  @Test func `a server that sends the whole again is taken at its word, also when that is shorter`() async throws {
    let (server, downloads) = (try server(), try Downloads())
    let (whole, _, body) = try await fetch(server.url("whole"), downloads)
    #expect(try whole[1].get().received == 100_000 && whole[1].get().sha256 == Self.digest && body == Self.body)
    let (shorter, _, short) = try await fetch(server.url("shorter"), downloads)
    #expect(try shorter[1].get().bytes == 5 && short == Self.body.prefix(5))
    #expect(try shorter[1].get().requests.sent == 1)
  }

  @Test(arguments: [
    "begin", "begin-cut", "gap", "gap-cut", "less", "other-total", "unknown-total", "other-tag", "no-range",
    "wrong-length", "long-chunks", "416",
  ])
  func `an odd answer is asked for anew, as a whole`(kind: String) async throws {
    let (server, downloads) = (try server(), try Downloads())
    let (outcomes, left, body) = try await fetch(server.url(kind), downloads)
    #expect(left == [40_000, nil])
    let outcome = try outcomes[1].get()
    #expect(outcome.httpStatus == 200 && outcome.bytes == 100_000 && outcome.sha256 == Self.digest && body == Self.body)
    #expect(outcome.requests.sent == 2)
    _ = try server.nextLine()
    #expect(try server.nextLine() == "/\(kind) bytes=40000- \"one\"")
    #expect(try server.nextLine() == "/\(kind) - -")
  }

  @Test func `a rest that does not make the checksum true is not believed`() async throws {
    let (server, downloads) = (try server(), try Downloads())
    let (outcomes, _, body) = try await fetch(server.url("lie"), downloads, checksum: try Self.checksum("sha-1"))
    #expect(try outcomes[1].get().httpStatus == 200 && body == Self.body)
  }

  @Test func `the limit of bytes holds for the whole`() async throws {
    let server = try server()
    let downloads = try Downloads { $0.maxBytes = 100_000 }
    #expect(try await fetch(server.url("a"), downloads).outcomes[1].get().bytes == 100_000)
    let small = try Downloads { $0.maxBytes = 99_999 }
    // Its length is not announced, and its first part is not too long.
    let (outcomes, _, body) = try await fetch(server.url("chunked"), small)
    guard case .failure(let error) = outcomes[1] else {
      Issue.record("it should be too large")
      return
    }
    #expect(error.code == .tooLarge && body.count <= 99_999)
  }

  @Test func `another URL does not go on with it`() async throws {
    let (server, downloads) = (try server(), try Downloads())
    let file = open(downloads.folder.file("file"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    let partial = PartialBody()
    for path in ["a", "weak"] {
      let request = TransferRequest(
        location: try SourceLocation(parsing: server.url(path)), destination: BodyStore(descriptor: file),
        partial: partial)
      _ = await withCheckedContinuation { continuation in
        downloads.engine.start(request) { continuation.resume(returning: $0) }
      }
    }
    #expect(try server.nextLine() == "/a - -")
    #expect(try server.nextLine() == "/weak - -")
    #expect(partial.bytes == nil)
    #expect(try Data(contentsOf: URL(fileURLWithPath: downloads.folder.file("file"))) == Self.body.prefix(40_000))
  }
}
