import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct ResolvingTests {
  /// A resolver of the test, which counts lookups.
  private final class Names: Sendable {
    private let answers: [String: NameLookup]
    private let counts = Mutex<[String: Int]>([:])
    private let gate = DispatchSemaphore(value: 0)

    init(_ answers: [String: NameLookup]) { self.answers = answers }

    /// Names that begin with `hang` are answered only after `open`.
    func lookUp(_ name: String) -> NameLookup {
      counts.withLock { $0[name, default: 0] += 1 }
      if name.hasPrefix("hang") {
        gate.wait()
        gate.signal()
      }
      return answers[name] ?? .notFound
    }

    func open() { gate.signal() }

    var lookups: [String: Int] { counts.withLock { $0 } }
  }

  private static let loopback = NameLookup.addresses([.v4(0x7f00_0001)])

  private struct Site {
    let nginx: Nginx
    let folder: TemporaryFolder

    init(directives: String = "") throws {
      folder = try TemporaryFolder()
      try "hello".write(toFile: folder.file("a"), atomically: false, encoding: .utf8)
      nginx = try Nginx(serving: folder.path, directives: directives)
    }

    func url(_ host: String, _ path: String = "a") -> String { "http://\(host):\(nginx.port)/\(path)" }
  }

  private func fetchAll(_ downloads: Downloads, _ urls: [String]) async throws -> [TransferError.Code?] {
    try await withThrowingTaskGroup(of: TransferError.Code?.self) { group in
      for url in urls { group.addTask { try await downloads.failure(url).error?.code } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test func `a name is resolved once for all transfers, whether or not it exists`() async throws {
    let site = try Site()
    let names = Names(["Good.example".lowercased(): Self.loopback])
    let downloads = try Downloads(lookUp: names.lookUp) { $0.perHost = HostLimit(fixed: 20) }
    for _ in 0..<3 {
      let good = try await fetchAll(downloads, (0..<40).map { site.url($0 % 2 == 0 ? "good.example" : "GOOD.example") })
      #expect(good == Array(repeating: nil, count: 40))
      let bad = try await fetchAll(downloads, Array(repeating: site.url("bad.example"), count: 40))
      #expect(bad == Array(repeating: .hostNotFound, count: 40))
    }
    #expect(names.lookups == ["good.example": 1, "bad.example": 1])
  }

  @Test func `a name that does not exist is a final failure, a resolver that fails is not`() async throws {
    let names = Names(["broken.example": .failed("Temporary failure in name resolution")])
    let downloads = try Downloads(lookUp: names.lookUp)
    let missing = try #require(try await downloads.failure("http://missing.example/a").error)
    #expect(missing.code == .hostNotFound)
    #expect(!missing.isRetryable)
    #expect(missing.message == "http://missing.example/a: there is no host missing.example")
    for _ in 0..<2 {
      let broken = try #require(try await downloads.failure("http://broken.example/a").error)
      #expect(broken.code == .dns)
      #expect(broken.isRetryable)
      #expect(broken.message.hasSuffix("Temporary failure in name resolution"))
    }
    #expect(names.lookups["broken.example"] == 2, "a failure is not remembered")
  }

  @Test func `a lookup without descriptors is a failure of the machine, not of the name`() async throws {
    #expect(NameLookup(code: EAI_NONAME, systemError: EMFILE, addresses: []) == .exhausted(EMFILE))
    #expect(
      NameLookup(code: EAI_AGAIN, systemError: EAGAIN, addresses: [])
        == .failed(String(cString: gai_strerror(EAI_AGAIN))))
    let names = Names(["crowded.example": .exhausted(EMFILE)])
    let downloads = try Downloads(lookUp: names.lookUp)
    for _ in 0..<2 {
      let error = try #require(try await downloads.failure("http://crowded.example/a").error)
      #expect((error.code, error.systemError, error.isOfSource) == (.io, EMFILE, false))
      #expect(error.message == "http://crowded.example/a: cannot look crowded.example up: Too many open files")
    }
    #expect(names.lookups["crowded.example"] == 2, "it is not remembered")
  }

  @Test func `a resolver that hangs is a timeout, and keeps neither others nor the end waiting`() async throws {
    let site = try Site()
    let names = Names(["good.example": Self.loopback, "hang.example": Self.loopback])
    defer { names.open() }
    let downloads = try Downloads(lookUp: names.lookUp) { $0.connectTimeout = .milliseconds(300) }
    async let hanging = downloads.failure(site.url("hang.example"))
    #expect(try await downloads.failure(site.url("good.example")).error == nil)
    let error = try #require(try await hanging.error)
    #expect(error.code == .timeout)
    #expect(error.isUnresolved)
    #expect(error.message.contains("hang.example was not resolved within connect-timeout, 0.3 s"))
    downloads.engine.shutdown()
  }

  @Test func `many names that hang do not keep another waiting`() async throws {
    let site = try Site()
    let names = Names(["good.example": Self.loopback])
    let downloads = try Downloads(lookUp: names.lookUp) { $0.connectTimeout = .seconds(600) }
    try await withThrowingTaskGroup(of: TransferError.Code?.self) { group in
      defer { names.open() }
      for number in 0..<40 {
        group.addTask { try await downloads.failure("http://hang\(number).example/").error?.code }
      }
      while names.lookups.count < 32 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(try await downloads.failure(site.url("good.example")).error == nil)
      downloads.engine.shutdown()
      for try await code in group { #expect(code == .cancelled) }
    }
  }

  @Test func `a name that nobody waits for any more is not looked up when a thread becomes free`() async throws {
    let names = Names([:])
    let downloads = try Downloads(lookUp: names.lookUp) { $0.connectTimeout = .milliseconds(500) }
    try await withThrowingTaskGroup(of: Result<TransferOutcome, TransferError>.self) { group in
      for number in 0..<257 {
        group.addTask { try await downloads.fetch("http://hang\(number).example/", to: -1) }
      }
      for try await result in group { #expect(throws: TransferError.self) { try result.get() } }
    }
    names.open()
    #expect(try await downloads.failure("http://next.example/").error?.code == .hostNotFound)
    #expect(names.lookups.count == 257, "256 of those that hang, and the next")
  }

  @Test func `a transfer that waits for its name can be cancelled`() async throws {
    let names = Names([:])
    defer { names.open() }
    let downloads = try Downloads(lookUp: names.lookUp)
    let request = TransferRequest(
      location: try SourceLocation(parsing: "http://hang.example/"), destination: BodyStore(descriptor: -1))
    let result = await withCheckedContinuation { continuation in
      let id = downloads.engine.start(request) { continuation.resume(returning: $0) }
      downloads.engine.cancel(id)
    }
    guard case .failure(let error) = result else { throw Unexpected() }
    #expect(error.code == .cancelled)
  }

  private struct Unexpected: Error {}

  @Test func `the targets of redirects are resolved in the same way`() async throws {
    let site = try Site(
      directives: """
        location = /good { return 302 $scheme://good.example:$server_port/a; }
        location = /bad { return 302 $scheme://bad.example:$server_port/a; }
        """)
    let names = Names(["good.example": Self.loopback])
    let downloads = try Downloads(lookUp: names.lookUp)
    let (result, body) = try await downloads.fetch(site.url("good.example", "good"))
    #expect(try result.get().finalURL == site.url("good.example"))
    #expect(body == Data("hello".utf8))
    let error = try #require(try await downloads.failure(site.url("127.0.0.1", "bad")).error)
    #expect(error.code == .hostNotFound)
    #expect(error.finalURL == site.url("bad.example"))
    #expect(error.requests.sent == 1)
    #expect(names.lookups == ["good.example": 1, "bad.example": 1])
  }

  @Test func `all addresses of a name are tried, and each is checked`() async throws {
    let site = try Site()
    let ipv6 = try #require(IPAddress("2001:db8::1"))
    let names = Names([
      "both.example": .addresses([ipv6, .v4(0x0a00_0001), .v4(0x7f00_0001)]),
      "private.example": .addresses([.v4(0x0a00_0001), ipv6, .v4(0x0a00_0002)]),
    ])
    let downloads = try Downloads(lookUp: names.lookUp)
    #expect(try await downloads.failure(site.url("both.example")).error == nil)
    let error = try #require(try await downloads.failure(site.url("private.example")).error)
    #expect(error.code == .addressNotAllowed)
    for advice in [
      "10.0.0.1 is a private address", "10.0.0.2 is a private address", "2001:db8::1 is a documentation address",
      "10.0.0.0/8", "2001:db8::/32", " would allow them",
    ] { #expect(error.message.contains(advice), "\(error.message)") }
  }

  @Test func `behind a proxy no name is resolved`() async throws {
    let site = try Site()
    let names = Names([:])
    let downloads = try Downloads(lookUp: names.lookUp) {
      $0.proxies.override = try Proxy(parsing: "http://127.0.0.1:\(site.nginx.port)")
    }
    #expect(try await downloads.failure("http://anything.example/a").error == nil)
    #expect(names.lookups.isEmpty)
  }
}
