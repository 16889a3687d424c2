import Foundation
import TestSupport
import Testing

@testable import Transfer

/// Limits of rates against real servers.
@Suite(.blocking) struct RateTests {
  /// nginx over HTTP/1.1, and with TLS also over HTTP/2.
  private struct Server {
    let nginx: Nginx
    let certificates: Certificates
    let folder: TemporaryFolder
    let port: ReservedPort

    init(_ directives: String = "") throws {
      (certificates, folder, port) = (try Certificates.shared, try TemporaryFolder(), try ReservedPort())
      nginx = try Nginx(
        serving: folder.path, directives: certificates.directives(.none, port: port.number) + directives, on: port)
    }

    /// A file of random bytes.
    func file(_ name: String, bytes: Int) throws -> Data {
      let random = try #require(FileHandle(forReadingAtPath: "/dev/urandom"))
      let data = try #require(try random.read(upToCount: bytes))
      try data.write(to: URL(fileURLWithPath: folder.file(name)))
      return data
    }

    func url(_ name: String, isHTTP2: Bool) -> String {
      isHTTP2 ? "https://127.0.0.1:\(port.number)/\(name)" : nginx.url(name)
    }

    func downloads(_ change: (inout TransferConfiguration) -> Void = { _ in }) throws -> Downloads {
      try Downloads {
        $0.certificateFile = certificates.authority
        change(&$0)
      }
    }
  }

  private func settings(rate: Int?) -> HostSettings {
    var settings = HostSettings()
    settings.maxRate = rate
    return settings
  }

  private func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
  }

  /// Downloads a file several times at once; returns how long it took.
  private func fetch(
    _ count: Int, _ url: String, _ data: Data, _ downloads: Downloads, rate: Int?, isHTTP2: Bool
  ) async throws -> Double {
    let settings = settings(rate: rate)
    return try await seconds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
          group.addTask {
            let (result, body) = try await downloads.fetch(url, settings: settings)
            let outcome = try result.get()
            #expect(body == data)
            #expect(outcome.bytes == data.count)
            #expect(outcome.answer?.isHTTP2 == isHTTP2)
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test("files keep to the rate, one alone and several together", arguments: [1, 3], [false, true])
  func limit(count: Int, isHTTP2: Bool) async throws {
    let server = try Server()
    let data = try server.file("a", bytes: 300_000 / count)
    for isTotal in [true, false] {
      let downloads = try server.downloads { if isTotal { $0.maxRate = 500_000 } }
      let seconds = try await fetch(
        count, server.url("a", isHTTP2: isHTTP2), data, downloads, rate: isTotal ? nil : 500_000, isHTTP2: isHTTP2)
      #expect(seconds > 0.45, "of all: \(isTotal)")
    }
  }

  @Test("many small files keep to the rate together", arguments: [false, true])
  func smallFiles(isHTTP2: Bool) async throws {
    let server = try Server()
    let data = try server.file("a", bytes: 5000)
    let downloads = try server.downloads()
    let seconds = try await fetch(
      100, server.url("a", isHTTP2: isHTTP2), data, downloads, rate: 300_000, isHTTP2: isHTTP2)
    #expect(seconds > 1.3)
  }

  @Test("a pause that is longer than a transfer may be slow is no timeout", arguments: [false, true])
  func lowSpeed(isHTTP2: Bool) async throws {
    let server = try Server()
    let data = try server.file("a", bytes: 40_000)
    let downloads = try server.downloads { ($0.lowSpeed, $0.lowSpeedPeriod) = (50_000, .seconds(1)) }
    let seconds = try await fetch(
      3, server.url("a", isHTTP2: isHTTP2), data, downloads, rate: 10_000, isHTTP2: isHTTP2)
    #expect(seconds > 4)
  }

  @Test("the time for which a transfer is held back does not count for its timeout", arguments: [false, true])
  func timeout(isHTTP2: Bool) async throws {
    let server = try Server()
    let data = try server.file("a", bytes: 300_000)
    let downloads = try server.downloads { $0.timeout = .seconds(4) }
    let seconds = try await fetch(
      3, server.url("a", isHTTP2: isHTTP2), data, downloads, rate: 150_000, isHTTP2: isHTTP2)
    #expect(seconds > 5)
  }

  @Test("a limited transfer whose server sends nothing more times out, with and without a low speed")
  func silence() async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads { ($0.maxRate, $0.lowSpeed, $0.timeout) = (1_000_000, 0, .seconds(1)) }
    #expect(try await downloads.failure(server.url("stall-mid-body")).error?.code == .timeout)
    #expect(try await downloads.failure(server.url("stall-before-header")).error?.code == .timeout)
  }

  @Test("a limited transfer that stalls times out")
  func stall() async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads {
      ($0.maxRate, $0.lowSpeed, $0.lowSpeedPeriod) = (1_000_000, 1024, .seconds(1))
    }
    #expect(try await downloads.failure(server.url("stall-mid-body")).error?.code == .timeout)
  }

  @Test("the limit of a host delays no other host", arguments: [false, true])
  func otherHost(isHTTP2: Bool) async throws {
    let server = try Server()
    _ = try server.file("slow", bytes: 1_000_000)
    let fast = try server.file("fast", bytes: 1_000_000)
    let downloads = try server.downloads()
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let progress = TransferProgress()
    let (endings, stream) = AsyncStream.makeStream(of: TransferError.Code?.self)
    let slow = TransferRequest(
      location: try SourceLocation(parsing: server.url("slow", isHTTP2: isHTTP2)),
      destination: BodyStore(descriptor: null),
      settings: settings(rate: 1), progress: progress)
    let id = downloads.engine.start(slow) { result in
      let code: TransferError.Code? = if case .failure(let error) = result { error.code } else { nil }
      stream.yield(code)
    }
    // The slow one, which takes days, is held back before the last of these begins.
    var isHeld = false
    repeat {
      isHeld = progress.rateHold == .host
      _ = try await fetch(
        1, "http://localhost:\(server.nginx.port)/fast", fast, downloads, rate: nil, isHTTP2: false)
    } while !isHeld
    downloads.engine.cancel(id)
    var iterator = endings.makeAsyncIterator()
    #expect(await iterator.next() == .cancelled)
  }

  @Test("streams of one connection lose nothing when some of them end while they pause")
  func streams() async throws {
    let server = try Server()
    let data = try server.file("a", bytes: 3_000_000)
    // Takes three seconds even if the others begin late.
    _ = try server.file("b", bytes: 30_000_000)
    let downloads = try server.downloads()
    var hurried = settings(rate: 10_000_000)
    hurried.timeLeft = .milliseconds(300)
    let (url, large) = (server.url("a", isHTTP2: true), server.url("b", isHTTP2: true))
    _ = try await fetch(1, url, data, downloads, rate: 10_000_000, isHTTP2: true)
    async let failures = withThrowingTaskGroup(of: TransferError.Code?.self) { [hurried] group in
      for _ in 0..<4 {
        group.addTask {
          guard case .failure(let error) = try await downloads.fetch(large, settings: hurried).result else {
            return nil
          }
          return error.code
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let seconds = try await fetch(8, url, data, downloads, rate: 10_000_000, isHTTP2: true)
    #expect(seconds > 2.2)
    #expect(try await failures == Array(repeating: .timeout, count: 4))
  }

  @Test("a large file gets through many pauses", arguments: [false, true])
  func largeFile(isHTTP2: Bool) async throws {
    let server = try Server()
    let data = try server.file("a", bytes: 10_000_000)
    let downloads = try server.downloads()
    let seconds = try await fetch(
      2, server.url("a", isHTTP2: isHTTP2), data, downloads, rate: 10_000_000, isHTTP2: isHTTP2)
    #expect(seconds > 1.9)
  }

  @Test("a paused transfer can time out and be cancelled", arguments: [false, true])
  func cancel(isHTTP2: Bool) async throws {
    let server = try Server()
    _ = try server.file("a", bytes: 1_000_000)
    let downloads = try server.downloads()
    let url = server.url("a", isHTTP2: isHTTP2)
    let (endings, stream) = AsyncStream.makeStream(of: TransferError.Code?.self)
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let request = TransferRequest(
      location: try SourceLocation(parsing: url), destination: BodyStore(descriptor: null), settings: settings(rate: 1))
    let ids = (0..<2).map { _ in
      downloads.engine.start(request) { result in
        let code: TransferError.Code? = if case .failure(let error) = result { error.code } else { nil }
        stream.yield(code)
      }
    }
    var hurried = settings(rate: 1)
    hurried.timeLeft = .seconds(1)
    guard case .failure(let error) = try await downloads.fetch(url, settings: hurried).result else {
      Issue.record("it should have timed out")
      return
    }
    #expect(error.code == .timeout)
    // All of them pause now.
    var iterator = endings.makeAsyncIterator()
    for id in ids {
      downloads.engine.cancel(id)
      #expect(await iterator.next() == .cancelled)
    }
  }

  @Test("what a transfer gets after a pause can make it fail")
  func failureAfterPause() async throws {
    let server = try PythonServer(
      PythonServer.prelude + """
        def handle(connection):
            connection.recv(65536)
            try:
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n" + bytes(1000000))
            except OSError:
                pass
            connection.close()

        serve()
        """)
    let downloads = try Downloads { ($0.maxRate, $0.maxBytes) = (200_000, 200_000) }
    let (error, body) = try await downloads.failure(server.url("a"))
    #expect(error?.code == .tooLarge)
    #expect(body.count <= 200_000)
  }
}
