import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct FetchTests {
  @Test("a file arrives as it is, with its digest and type", arguments: [0, 1, 16384, 3_000_001])
  func bytes(count: Int) async throws {
    let folder = try TemporaryFolder()
    let content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    try content.write(to: URL(fileURLWithPath: folder.file("a picture.jpg")))
    let nginx = try Nginx(serving: folder.path)
    let (result, body) = try await Downloads().fetch(nginx.url("a picture.jpg"))
    let outcome = try result.get()
    let digest = MessageDigest()
    content.withUnsafeBytes { digest.update($0) }
    #expect(body == content)
    #expect(outcome.bytes == count)
    #expect(outcome.sha256 == digest.hexDigest())
    #expect(outcome.httpStatus == 200)
    #expect(outcome.contentType == "image/jpeg")
    #expect(outcome.finalURL == nginx.url("a%20picture.jpg"))
    #expect(outcome.seconds > 0)
  }

  @Test("hundreds of files arrive at once, over few connections")
  func hundreds() async throws {
    let folder = try TemporaryFolder()
    for number in 0..<300 {
      try Data("picture \(number)".utf8).write(to: URL(fileURLWithPath: folder.file("\(number)")))
    }
    let nginx = try Nginx(serving: folder.path)
    let downloads = try Downloads()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<300 {
        group.addTask {
          let (result, body) = try await downloads.fetch(nginx.url("\(number)"))
          #expect(try result.get().bytes == body.count)
          #expect(body == Data("picture \(number)".utf8))
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("one host never has more transfers than allowed")
  func perHost() async throws {
    // The server answers three at a time, and waits a moment for a fourth.
    let server = try PythonServer(
      PythonServer.prelude + """
        lock, barrier, active, peak = threading.Lock(), threading.Barrier(3), 0, 0

        def answer(connection, path):
            global active, peak
            if path == "/peak":
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n%d" % peak)
                return
            with lock:
                active += 1
                peak = max(peak, active)
            barrier.wait(600)
            time.sleep(0.05)
            with lock:
                active -= 1
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")

        serve()
        """)
    let downloads = try Downloads { $0.perHost = HostLimit(fixed: 3) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<12 {
        group.addTask { _ = try await downloads.fetch(server.url("picture")).result.get() }
      }
      try await group.waitForAll()
    }
    let (_, body) = try await downloads.fetch(server.url("peak"))
    #expect(String(decoding: body, as: UTF8.self) == "3")
  }

  @Test("time spent waiting for a slot does not count against the timeout")
  func waiting() async throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        def answer(connection, path):
            if path == "/first":
                say(path)
                time.sleep(6)
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")

        serve()
        """)
    let downloads = try Downloads {
      $0.perHost = HostLimit(fixed: 1)
      $0.timeout = .seconds(5)
    }
    var patient = HostSettings()
    patient.timeout = .seconds(600)
    async let first = downloads.fetch(server.url("first"), settings: patient)
    #expect(try await server.line() == "/first")
    _ = try await downloads.fetch(server.url("second")).result.get()
    _ = try await first.result.get()
  }

  @Test("the request names the agent, asks for no encoding, and sends the URL's credentials")
  func requestHeader() async throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        def handle(connection):
            header = connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + header)
            connection.close()

        serve()
        """)
    let downloads = try Downloads { $0.userAgent = "darkroom/1.2" }
    let (result, body) = try await downloads.fetch("http://user:secret@127.0.0.1:\(server.port)/a b?c d#e")
    let header = String(decoding: body, as: UTF8.self).split(separator: "\r\n").map(String.init)
    #expect(header.first == "GET /a%20b?c+d HTTP/1.1")
    #expect(header.contains("User-Agent: darkroom/1.2"))
    #expect(header.contains("Authorization: Basic dXNlcjpzZWNyZXQ="))
    #expect(!header.contains { $0.lowercased().hasPrefix("accept-encoding") || $0.lowercased().hasPrefix("cookie") })
    #expect(try result.get().finalURL == "http://127.0.0.1:\(server.port)/a%20b?c+d")
  }

  @Test("a self-signed certificate is a tls error")
  func selfSigned() async throws {
    let folder = try TemporaryFolder()
    let port = try ReservedPort()
    let nginx = try Nginx(
      serving: folder.path, directives: Certificates.shared.directives(.selfSigned, port: port.number), on: port)
    let (error, body) = try await Downloads().failure("https://127.0.0.1:\(port.number)/a")
    #expect(error?.code == .tls)
    #expect(error?.isRetryable == false)
    #expect(body.isEmpty)
    #expect(try nginx.accessLog().filter { $0.contains("GET") }.isEmpty)
  }

  @Test("the environment is read only by adopt(environment:)")
  func proxyEnvironment() async throws {
    await #expect(processExitsWith: .success) {
      for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"] {
        setenv(name, "http://127.0.0.1:1", 1)
      }
      let server = try FaultServer.start()
      _ = try await Downloads().fetch(server.url("ok")).result.get()
    }
  }
}
