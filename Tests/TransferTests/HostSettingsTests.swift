import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct HostSettingsTests {
  /// Two servers that answer with the header they got; `/other` of the first redirects to the second, `/same` to itself.
  private struct Servers {
    let first: PythonServer
    let second: PythonServer

    init() throws {
      second = try PythonServer(Self.script)
      first = try PythonServer(Self.script, ["\(second.port)"])
    }

    private static let script =
      PythonServer.prelude + """
        def handle(connection):
            header = connection.recv(65536)
            path = header.split(b" ")[1]
            target = {b"/other": b"http://127.0.0.1:" + sys.argv[-1].encode(), b"/same": b""}.get(path)
            if target is not None:
                head = b"HTTP/1.1 302 Found\\r\\nLocation: " + target + b"/end\\r\\nContent-Length: 0\\r\\n"
            else:
                head = b"HTTP/1.1 200 OK\\r\\n"
            connection.sendall(head + b"Connection: close\\r\\n\\r\\n" + (header if target is None else b""))
            connection.close()

        serve()
        """
  }

  private func lines(_ body: Data) -> [String] {
    String(decoding: body, as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  @Test(arguments: [("a", true), ("same", true), ("other", false)])
  func `header fields of a rule go to the host of the request only`(path: String, isSent: Bool) async throws {
    let servers = try Servers()
    var settings = HostSettings()
    settings.headers = try [HeaderField("X-Token", "secret"), HeaderField("Accept", "image/*")]
    let request = try SourceRequest(method: .get, headers: [HeaderField("accept", "image/png")], content: nil)
    let (result, body) = try await Downloads().fetch(servers.first.url(path), request, settings: settings)
    _ = try result.get()
    #expect(lines(body).contains("X-Token: secret") == isSent)
    #expect(!lines(body).contains("Accept: image/*"), "the request's own field counts")
  }

  @Test(arguments: [("a", nil, true), ("same", nil, true), ("other", nil, false), ("a", "Bearer x", false)])
  func `a netrc file gives user and password of the hosts that it names`(
    path: String, authorization: String?, isSent: Bool
  ) async throws {
    let servers = try Servers()
    var settings = HostSettings()
    settings.netrc = try MemoryFile("machine 127.0.0.1 login user password secret\n")
    let headers = try authorization.map { [try HeaderField("Authorization", $0)] } ?? []
    let request = try SourceRequest(method: .get, headers: headers, content: nil)
    let downloads = try Downloads()
    for _ in 0..<2 {
      let (result, body) = try await downloads.fetch(servers.first.url(path), request, settings: settings)
      #expect(try !result.get().finalURL.contains("secret"))
      #expect(lines(body).contains("Authorization: Basic dXNlcjpzZWNyZXQ=") == isSent)
      #expect(lines(body).contains("Authorization: Bearer x") == (authorization != nil))
    }
  }

  @Test(
    arguments: [
      // first-byte and connect timeout of a rule; that of both for a try at a silent host; what holds then
      (nil, nil, nil, nil, nil), (nil, nil, 2, 2, 2), (9, nil, 2, 2, 9), (nil, 20, 2, 20, 2), (1, 1, 2, 1, 1),
    ] as [(Int?, Int?, Int?, Int?, Int?)])
  func `the time for a try is limited besides its own timeout, and what a rule sets stays`(
    firstByte: Int?, connect: Int?, silent: Int?, connecting: Int?, answering: Int?
  ) {
    var (settings, limits) = (HostSettings(), HostSettings())
    (settings.firstByteTimeout, settings.connectTimeout) = (
      firstByte.map { .seconds($0) }, connect.map { .seconds($0) }
    )
    (limits.firstByteTimeout, limits.connectTimeout) = (silent.map { .seconds($0) }, silent.map { .seconds($0) })
    (settings.timeout, limits.timeLeft) = (.seconds(1200), .seconds(3600))
    let limited = settings.limited(by: limits)
    #expect(limited.connectTimeout == connecting.map { .seconds($0) })
    #expect(limited.firstByteTimeout == answering.map { .seconds($0) })
    #expect(limited.timeout == .seconds(1200) && limited.timeLeft == .seconds(3600))
  }

  @Test(
    arguments: [
      // the configuration's timeout, a rule's, what is left; whether an answer after half a second is in time
      (100, nil, nil, false), (100, nil, 60_000, false), (100, 60_000, nil, true), (100, 60_000, 50_000, true),
      (60_000, nil, 100, false), (100, 60_000, 100, false), (60_000, 100, 60_000, false),
    ] as [(Int, Int?, Int?, Bool)])
  func `a rule's timeout takes the place of the configuration's, and what is left limits both`(
    configured: Int, ruled: Int?, left: Int?, isInTime: Bool
  ) async throws {
    let server = try FaultServer.shared
    var settings = HostSettings()
    settings.timeout = ruled.map { .milliseconds($0) }
    settings.timeLeft = left.map { .milliseconds($0) }
    let downloads = try Downloads { $0.timeout = .milliseconds(configured) }
    let (result, _) = try await downloads.fetch(server.url("after-half-a-second"), settings: settings)
    if case .failure(let error) = result {
      #expect(!isInTime && error.code == .timeout)
    } else {
      #expect(isInTime)
    }
  }

  @Test func `a time limit of a transfer takes the place of the configuration's`() async throws {
    var settings = HostSettings()
    settings.timeout = .milliseconds(200)
    let (result, _) = try await Downloads().fetch(FaultServer.shared.url("stall-before-header"), settings: settings)
    guard case .failure(let error) = result else {
      Issue.record("it should have timed out")
      return
    }
    #expect(error.code == .timeout)
  }

  @Test func `a connect timeout of a transfer takes the place of the configuration's`() async throws {
    let ended = DispatchSemaphore(value: 0)
    defer { ended.signal() }
    let downloads = try Downloads(lookUp: { _ in
      ended.wait()
      return .notFound
    })
    var settings = HostSettings()
    settings.connectTimeout = .milliseconds(100)
    let (result, _) = try await downloads.fetch("http://slow.example/", settings: settings)
    guard case .failure(let error) = result else {
      Issue.record("it should have timed out")
      return
    }
    #expect(error.code == .timeout)
    #expect(error.message.contains("0.1 s"))
  }
}
