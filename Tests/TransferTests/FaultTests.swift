import Foundation
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct FaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let path: String
    let code: TransferError.Code
    let isRetryable: Bool
    let testDescription: String

    init(_ path: String, _ code: TransferError.Code, retryable: Bool) {
      (self.path, self.code, isRetryable) = (path, code, retryable)
      testDescription = "\(path): \(code.rawValue)"
    }
  }

  @Test(
    "each fault of a server has its code",
    arguments: [
      Fault("reset", .network, retryable: true),
      Fault("empty", .network, retryable: true),
      Fault("stall-before-header", .timeout, retryable: true),
      Fault("stall-mid-body", .timeout, retryable: true),
      Fault("endless", .tooLarge, retryable: false),
      Fault("announced-too-large", .tooLarge, retryable: false),
      Fault("short", .truncated, retryable: true),
      Fault("cut-header/200", .network, retryable: true),
      Fault("cut-header/204", .network, retryable: true),
      Fault("cut-header/302", .network, retryable: true),
      Fault("cut-header/404", .network, retryable: true),
      Fault("huge-length", .tooLarge, retryable: false),
      Fault("redirect-to-long", .urlInvalid, retryable: false),
      Fault("long", .truncated, retryable: true),
      Fault("long-after-header", .truncated, retryable: true),
      Fault("endless-after-length", .truncated, retryable: true),
      Fault("trickle", .timeout, retryable: true),
      Fault("trickling-header", .timeout, retryable: true),
      Fault("early-hints-for-ever", .tooLarge, retryable: false),
      Fault("heavy-redirects", .tooLarge, retryable: false),
      Fault("slow-redirects", .timeout, retryable: true),
      Fault("short-redirect-body", .truncated, retryable: true),
      Fault("redirect-nowhere", .httpStatus, retryable: false),
      Fault("short-chunked", .truncated, retryable: true),
      Fault("reset-mid-body", .network, retryable: true),
      Fault("redirect-loop", .tooManyRedirects, retryable: false),
      Fault("redirect-to-file", .schemeNotAllowed, retryable: false),
      Fault("redirect-to-ftp", .schemeNotAllowed, retryable: false),
      Fault("redirect-to-unknown-scheme", .schemeNotAllowed, retryable: false),
      Fault("redirect-to-private", .addressNotAllowed, retryable: false),
      Fault("redirect-to-metadata", .addressNotAllowed, retryable: false),
      Fault("redirect-to-nonsense", .urlInvalid, retryable: false),
      Fault("redirect-to-broken-userinfo", .urlInvalid, retryable: false),
      Fault("redirect-without-target", .httpStatus, retryable: false),
      Fault("huge-error", .httpStatus, retryable: false),
      Fault("endless-error", .httpStatus, retryable: true),
      Fault("partial", .httpStatus, retryable: false),
      Fault("no-content", .httpStatus, retryable: false),
      Fault("garbage", .network, retryable: true),
      Fault("http-0.9", .network, retryable: true),
      Fault("many-headers", .tooLarge, retryable: false),
      Fault("long-header", .tooLarge, retryable: false),
    ])
  func code(fault: Fault) async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads {
      $0.maxBytes = 1 << 20
      $0.timeout = fault.code == .timeout ? .milliseconds(300) : .seconds(30)
      if fault.path == "slow-redirects" { $0.maxRedirects = 100 }
    }
    let (error, body) = try await downloads.failure(server.url(fault.path))
    #expect(error?.code == fault.code, "\(error?.message ?? "no error")")
    #expect(error?.isRetryable == fault.isRetryable)
    #expect(error?.message.contains("secret") == false)
    #expect(error?.finalURL?.contains("secret") == false)
    #expect(error?.message.contains("127.0.0.1:\(server.port)/\(fault.path)") == true)
    #expect(body.count <= 1 << 20)
    if fault.path.hasPrefix("endless-after") || fault.path == "long" { #expect(body == Data("hello".utf8)) }
    if fault.code == .httpStatus || fault.path.hasPrefix("redirect") { #expect(body.isEmpty) }
  }

  @Test(
    "a status other than 200 is an error with its number", arguments: [201, 304, 400, 401, 403, 404, 410, 501, 505])
  func permanentStatus(status: Int) async throws {
    try await expect(status: status, retryable: false)
  }

  @Test("a status that may pass is retryable", arguments: [408, 425, 429, 500, 502, 503, 504])
  func passingStatus(status: Int) async throws {
    try await expect(status: status, retryable: true)
  }

  private func expect(status: Int, retryable: Bool) async throws {
    let server = try FaultServer.shared
    let (error, body) = try await Downloads().failure(server.url("status/\(status)"))
    #expect(error?.code == .httpStatus)
    #expect(error?.httpStatus == status)
    #expect(error?.isRetryable == retryable)
    #expect(body.isEmpty)
  }

  @Test(
    "little progress for too long is a timeout",
    arguments: ["stall-mid-body", "trickle"])
  func lowSpeed(path: String) async throws {
    let server = try FaultServer.shared
    let (error, body) = try await Downloads { $0.lowSpeedPeriod = .seconds(1) }.failure(server.url(path))
    #expect(error?.code == .timeout)
    #expect(error?.isRetryable == true)
    #expect(body.count < 100)
  }

  @Test(arguments: ["stall-before-header", "trickling-header", "stall-before-body"], [false, true])
  func `a body that does not begin in time is a timeout that names the limit`(path: String, isRule: Bool) async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads {
      // What the body's speed is limited to says nothing of the time before.
      ($0.lowSpeed, $0.firstByteTimeout) = (0, .milliseconds(isRule ? 600_000 : 500))
    }
    var settings = HostSettings()
    if isRule { settings.firstByteTimeout = .milliseconds(500) }
    guard case .failure(let error) = try await downloads.fetch(server.url(path), settings: settings).result else {
      Issue.record("it has ended well")
      return
    }
    #expect(error.code == .timeout && error.isRetryable)
    #expect(error.message.hasPrefix("first-byte-timeout is 0.5 s; http://127.0.0.1:"), "\(error.message)")
    #expect(error.requests.sent == 1 && error.finalURL == server.url(path))
  }

  @Test(arguments: ["think-before-header", "think-before-body", "redirect-to-thinking"])
  func `a server may take longer for the first byte than a body may be slow`(path: String) async throws {
    let server = try FaultServer.shared
    let (result, body) = try await Downloads { $0.lowSpeedPeriod = .seconds(1) }.fetch(server.url(path))
    #expect(try result.get().bytes == 5)
    #expect(body == Data("hello".utf8))
  }

  @Test(
    "what is odd but complete arrives as it was sent",
    arguments: [
      ("html", Data("<p>hello</p>".utf8)), ("without-length", Data("hello".utf8)),
      ("length-and-chunks", Data("hello".utf8)), ("endless-redirect-body", Data("hello".utf8)),
      ("gzip", Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==")),
    ])
  func odd(path: String, expected: Data?) async throws {
    let server = try FaultServer.shared
    let (result, body) = try await Downloads().fetch(server.url(path))
    #expect(try result.get().bytes == expected?.count)
    #expect(body == expected)
  }

  @Test("what a server sends after its answer is not taken for the next one")
  func poisoned() async throws {
    let server = try FaultServer.start()
    let downloads = try Downloads()
    #expect(try await downloads.fetch(server.url("poisoned")).body == Data("hello".utf8))
    #expect(try server.nextLine() == "poisoned")
    let (result, body) = try await downloads.fetch(server.url("html"))
    #expect(body == Data("<p>hello</p>".utf8))
    #expect(try result.get().requests.reused == 0)
  }

  @Test(
    "a connection that nobody takes, or that never speaks TLS, ends with --connect-timeout", arguments: [true, false])
  func connectTimeout(isFull: Bool) async throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        clients = []
        while \(isFull ? "True" : "False"):
            clients.append(socket.socket())
            clients[-1].settimeout(0.2)
            try:
                clients[-1].connect(listener.getsockname())
            except TimeoutError:
                break
        print(listener.getsockname()[1], flush=True)
        time.sleep(600)
        """)
    let downloads = try Downloads { $0.connectTimeout = .milliseconds(300) }
    let (error, _) = try await downloads.failure(server.url(scheme: "https"))
    #expect(error?.code == .timeout, "\(error?.message ?? "no error")")
    #expect(error?.isRetryable == true)
  }

  @Test("too large names the limit and the value")
  func tooLargeMessage() async throws {
    let server = try FaultServer.shared
    let (error, body) = try await Downloads { $0.maxBytes = 4 }.failure(server.url("ok"))
    #expect(error?.message == "--max-bytes is 4 bytes; \(server.url("ok")) announces more: 5 bytes")
    #expect(body.isEmpty)
    let (result, _) = try await Downloads { $0.maxBytes = 5 }.fetch(server.url("ok"))
    #expect(throws: Never.self) { try result.get() }
  }

  @Test("a redirect's own body is not written, and the final URL is known")
  func redirect() async throws {
    let server = try FaultServer.shared
    let (result, body) = try await Downloads().fetch(server.url("redirect"))
    #expect(try result.get().finalURL == server.url("ok"))
    #expect(body == Data("hello".utf8))
  }

  @Test func `of several targets of a redirect the first counts`() async throws {
    let server = try FaultServer.shared
    #expect(try await Downloads().fetch(server.url("redirect-twice-said")).result.get().finalURL == server.url("ok"))
  }

  @Test("redirects are followed up to the limit", arguments: [0, 1])
  func redirectLimit(limit: Int) async throws {
    let server = try FaultServer.shared
    let (result, _) = try await Downloads { $0.maxRedirects = limit }.fetch(server.url("redirect"))
    let code: TransferError.Code? = if case .failure(let error) = result { error.code } else { nil }
    #expect(code == (limit == 0 ? .tooManyRedirects : nil))
  }

  @Test("informational responses are skipped")
  func earlyHints() async throws {
    let server = try FaultServer.shared
    let (result, body) = try await Downloads().fetch(server.url("early-hints"))
    #expect(try result.get().httpStatus == 200)
    #expect(body == Data("hello".utf8))
  }

  @Test("a refused port is a connect error with its number")
  func refusedPort() async throws {
    let port = try LoopbackSocket.closedPort
    let (error, _) = try await Downloads().failure("http://127.0.0.1:\(port)/")
    #expect(error?.code == .connect)
    #expect(error?.systemError == ECONNREFUSED)
    #expect(error?.isRetryable == true)
  }

  @Test("a name that does not exist is a dns error when there is no resolver, and is not found otherwise")
  func unresolvable() async throws {
    let (error, _) = try await Downloads().failure("http://name.invalid/")
    #expect(error?.code == .hostNotFound || error?.code == .dns)
    #expect(error?.isRetryable == (error?.code == .dns))
  }

  @Test("a full disk is an io error with its number")
  func fullDisk() async throws {
    let server = try FaultServer.shared
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    let result = try await Downloads().fetch(server.url("ok"), to: full)
    guard case .failure(let error) = result else {
      Issue.record("written to a full disk")
      return
    }
    #expect(error.code == .io)
    #expect(error.systemError == ENOSPC)
    #expect(!error.isRetryable)
  }
}
