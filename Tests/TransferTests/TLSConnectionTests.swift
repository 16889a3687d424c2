import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct TLSConnectionTests {
  /// nginx with TLS; `/resumed` answers `r` over a resumed session and `.` over a new one.
  private struct Server {
    let nginx: Nginx
    let certificates: Certificates
    let folder: TemporaryFolder
    let port: ReservedPort

    init(_ directives: String = "", isHTTP2: Bool = false) throws {
      (certificates, folder, port) = (try Certificates.shared, try TemporaryFolder(), try ReservedPort())
      try Data(count: 3000).write(to: URL(fileURLWithPath: folder.file("a")))
      var text = certificates.directives(.none, port: port.number)
      if !isHTTP2 { text = text.replacing(" http2", with: "") }
      nginx = try Nginx(
        serving: folder.path,
        directives: text + directives + """
          location = /resumed { return 200 $ssl_session_reused; }
          access_log \(folder.path)/connections.log connections;
          """, on: port, shared: "log_format connections \"$connection $msec $request_time\";")
    }

    func url(_ path: String) -> String { "https://127.0.0.1:\(port.number)/\(path)" }

    func downloads(_ change: (inout TransferConfiguration) -> Void = { _ in }) throws -> Downloads {
      try Downloads {
        $0.certificateFile = certificates.authority
        change(&$0)
      }
    }

    /// How many connections carried the last requests.
    /// A request, from its beginning to its end in seconds.
    struct Request {
      let connection: Substring
      let began: Double
      let ended: Double
    }

    /// The requests that were answered, in the order of their ends.
    func requests() throws -> [Request] {
      let log = try String(contentsOfFile: folder.file("connections.log"), encoding: .utf8)
      return log.split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        guard words.count == 3, let ended = Double(words[1]), let time = Double(words[2]) else { return nil }
        return Request(connection: words[0], began: ended - time, ended: ended)
      }
    }
  }

  @Test("sessions are resumed by new connections of the host", arguments: ["TLSv1.2", "TLSv1.3"])
  func resumption(version: String) async throws {
    // By default nginx forgets a session after five minutes, for which a test may have to wait on a busy machine.
    let server = try Server(
      "keepalive_timeout 0; ssl_protocols \(version); ssl_session_cache shared:tls:1m; ssl_session_timeout 1d;\n")
    let groups = try await server.downloads().fetch(server.url("resumed"), inGroupsOf: Array(repeating: 1, count: 8))
    for group in groups { #expect(try group[0].result.get().requests.reused == 0) }
    #expect(groups.map { String(decoding: $0[0].body, as: UTF8.self) } == ["."] + Array(repeating: "r", count: 7))
    // Another engine, which does not trust the authority, has no use of them.
    #expect(try await Downloads().failure(server.url("resumed")).error?.code == .tls)
  }

  @Test("a host that has not answered is asked over several connections at once")
  func firstConnections() async throws {
    // It closes its connections once there are four.
    let server = try PythonServer(
      PythonServer.prelude + """
        everyone = threading.Barrier(4)

        def handle(connection):
            everyone.wait()
            connection.close()

        serve()
        """)
    let downloads = try Downloads {
      $0.perHost = HostLimit(fixed: 4)
      $0.connectTimeout = .seconds(5)
    }
    let url = server.url("a", scheme: "https")
    try await withThrowingTaskGroup(of: TransferError.Code?.self) { group in
      for _ in 0..<4 { group.addTask { try await downloads.failure(url).error?.code } }
      for try await code in group { #expect(code != nil && code != .timeout) }
    }
  }

  @Test(
    "a handshake that is cut off is a lost connection, one that is refused is a tls error",
    arguments: [("reset", TransferError.Code.network), ("close", .network), ("alert", .tls), ("text", .tls)])
  func cutHandshake(ending: String, code: TransferError.Code) async throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        def handle(connection):
            # All of the client's first message, so that closing resets nothing.
            length = struct.unpack(">H", connection.recv(5, socket.MSG_WAITALL)[3:])[0]
            connection.recv(length, socket.MSG_WAITALL)
            if sys.argv[1] == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif sys.argv[1] == "alert":
                connection.sendall(bytes([21, 3, 3, 0, 2, 2, 40]))
            elif sys.argv[1] == "text":
                connection.sendall(b"HTTP/1.1 400 Bad Request\\r\\n\\r\\n")
            connection.close()

        serve()
        """, [ending])
    let error = try #require(try await Downloads().failure(server.url("a", scheme: "https")).error)
    #expect(error.code == code && error.isRetryable == (code == .network), "\(error.message)")
  }

  @Test("a folder of certificates is trusted besides the bundle")
  func certificateFolder() async throws {
    let server = try Server("keepalive_timeout 0;\n")
    let folder = try TemporaryFolder()
    try FileManager.default.copyItem(atPath: server.certificates.authority, toPath: folder.file("authority.pem"))
    #expect(try SpawnedProcess.run("/usr/bin/openssl", ["rehash", folder.path], errors: .null) == 0)
    let trusting = try Downloads { $0.certificateFolder = folder.path }
    for _ in 0..<3 { #expect(try await trusting.failure(server.url("a")).error == nil) }
    #expect(try await Downloads().failure(server.url("a")).error?.code == .tls)
  }

  @Test(
    "streams share connections, as many as the server allows on each, besides those of the first tries",
    arguments: [(128, 6), (10, 6), (1, 24)])
  func streams(allowed: Int, connections: Int) async throws {
    let server = try Server(
      "http2_max_concurrent_streams \(allowed); location = /a { limit_rate 30k; }\n", isHTTP2: true)
    let downloads = try server.downloads()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<300 {
        group.addTask {
          let (result, body) = try await downloads.fetch(server.url("a"))
          #expect(try result.get().answer?.isHTTP2 == true)
          #expect(body.count == 3000)
        }
      }
      try await group.waitForAll()
    }
    // Once the number of streams is learned. Those of some time are more on a slow machine: idle ones are closed.
    let requests = try server.requests()
    #expect(requests.count == 300)
    let atOnce = requests.suffix(50).map { last in
      Set(requests.filter { $0.began < last.ended && $0.ended >= last.ended }.map(\.connection)).count
    }
    #expect(atOnce.max() ?? 0 <= connections, "\(requests.map { "\($0)" }.joined(separator: "\n"))")
  }

  @Test("a server that ends its HTTP/2 connections in between loses no transfer")
  func goAway() async throws {
    let server = try Server("keepalive_requests 20;\n", isHTTP2: true)
    let downloads = try server.downloads()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<300 {
        group.addTask {
          // A request that crosses the end of its connection may fail, and is then one to be sent again.
          var (result, body) = try await downloads.fetch(server.url("a"))
          if case .failure(let error) = result, error.isRetryable {
            (result, body) = try await downloads.fetch(server.url("a"))
          }
          #expect(try result.get().bytes == body.count)
        }
      }
      try await group.waitForAll()
    }
    #expect(try Set(server.requests().map(\.connection)).count >= 15)
  }
}
