import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) final class CancellationTests {
  /// Counts how each transfer ended.
  private final class Endings: Sendable {
    let codes = Mutex<[Int: [TransferError.Code?]]>([:])

    func record(_ number: Int, _ result: Result<TransferOutcome, TransferError>) {
      let code: TransferError.Code? = if case .failure(let error) = result { error.code } else { nil }
      codes.withLock { $0[number, default: []].append(code) }
    }
  }

  private let null = open("/dev/null", O_WRONLY | O_CLOEXEC)

  deinit { close(null) }

  private func request(_ url: String) throws -> TransferRequest {
    TransferRequest(location: try SourceLocation(parsing: url), destination: BodyStore(descriptor: null))
  }

  @Test("a transfer can be cancelled while it waits for a slot, and while its body arrives")
  func cancel() async throws {
    let server = try FaultServer.start()
    let downloads = try Downloads {
      ($0.perHost, $0.firstByteTimeout, $0.lowSpeed) = (HostLimit(fixed: 1), .seconds(600), 0)
    }
    let (endings, stream) = AsyncStream.makeStream(of: (String, TransferError?).self)
    let ids = try ["running", "waiting"].map { name in
      downloads.engine.start(try request(server.url("stall-mid-body"))) { result in
        let error: TransferError? = if case .failure(let error) = result { error } else { nil }
        stream.yield((name, error))
      }
    }
    #expect(try server.nextLine() == "stalled")
    var iterator = endings.makeAsyncIterator()
    for index in [1, 0] {
      downloads.engine.cancel(ids[index])
      let ending = await iterator.next()
      #expect(ending?.0 == ["running", "waiting"][index])
      #expect(ending?.1?.code == .cancelled)
      #expect(ending?.1?.requests.sent == [1, 0][index], "what was sent counts")
    }
    // The host's slot is free again.
    _ = try await downloads.fetch(server.url("ok")).result.get()
  }

  @Test("cancelling what has ended, or never was, does nothing")
  func cancelLate() async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads()
    let (endings, stream) = AsyncStream.makeStream(of: Void.self)
    let id = downloads.engine.start(try request(server.url("ok"))) { _ in stream.yield() }
    for await _ in endings { break }
    downloads.engine.cancel(id)
    downloads.engine.cancel(TransferID(number: 4711))
    _ = try await downloads.fetch(server.url("ok")).result.get()
  }

  @Test("every transfer completes exactly once, whatever is cancelled when")
  func exactlyOnce() async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads { $0.perHost = HostLimit(fixed: 4) }
    let endings = Endings()
    for number in 0..<200 {
      let id = downloads.engine.start(try request(server.url("ok"))) { endings.record(number, $0) }
      if number % 3 == 0 { downloads.engine.cancel(id) }
      if number % 6 == 0 { downloads.engine.cancel(id) }
    }
    downloads.engine.shutdown()
    let codes = endings.codes.withLock { $0 }
    #expect(codes.count == 200)
    #expect(codes.values.allSatisfy { $0 == [nil] || $0 == [.cancelled] })
  }

  @Test("shutdown cancels what runs and what waits, and what comes later")
  func shutdown() async throws {
    let server = try FaultServer.start()
    let root = try TemporaryFolder()
    let downloads = try Downloads {
      $0.perHost = HostLimit(fixed: 4)
      $0.fileRoot = root.path
    }
    let endings = Endings()
    for number in 0..<8 {
      downloads.engine.start(try request(server.url("stall-mid-body"))) { endings.record(number, $0) }
    }
    for _ in 0..<4 { #expect(try server.nextLine() == "stalled") }
    downloads.engine.shutdown()
    downloads.engine.start(try request(server.url("ok"))) { endings.record(8, $0) }
    downloads.engine.start(try request("missing.jpg")) { endings.record(9, $0) }
    downloads.engine.shutdown()
    #expect(endings.codes.withLock { $0 } == Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, [.cancelled]) }))
  }

  @Test("an engine may be released by the last of its completions")
  func releasedByCompletion() async throws {
    let server = try FaultServer.shared
    let downloads = Mutex<Downloads?>(try Downloads())
    let holder = Holder(downloads: downloads.withLock { $0.take() })
    await withCheckedContinuation { continuation in
      guard let engine = holder.engine, let request = try? request(server.url("ok")) else {
        return continuation.resume()
      }
      engine.start(request) { _ in
        holder.release()
        continuation.resume()
      }
    }
    #expect(holder.engine == nil)
  }

  private final class Holder: Sendable {
    private let downloads: Mutex<Downloads?>

    init(downloads: Downloads?) { self.downloads = Mutex(downloads) }

    var engine: TransferEngine? { downloads.withLock { $0?.engine } }

    func release() {
      let last = downloads.withLock { $0.take() }
      withExtendedLifetime(last) {}
    }
  }

  @Test("a completion may start the next transfer")
  func startedByCompletion() async throws {
    let server = try FaultServer.shared
    let downloads = try Downloads()
    let request = try request(server.url("ok"))
    let left = Atomic(20)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      @Sendable func next() {
        downloads.engine.start(request) { _ in
          if left.subtract(1, ordering: .relaxed).newValue == 0 { continuation.resume() } else { next() }
        }
      }
      next()
    }
    #expect(left.load(ordering: .relaxed) == 0)
  }
}
