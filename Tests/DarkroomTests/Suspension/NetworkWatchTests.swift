import System
import TestSupport
import Testing
import Synchronization

@testable import Darkroom
@testable import Transfer

@Suite(.blocking) struct NetworkWatchTests {
  private let mailbox: Mailbox<NetworkWatch.ProbeResult>
  private let watch: NetworkWatch
  private let engine: TransferEngine
  private let lookups = Lookups()

  /// A resolver of the test, which counts what it is asked.
  private final class Lookups: Sendable {
    private let names = Mutex<[String]>([])
    private let isBroken = Mutex(false)

    var asked: [String] { names.withLock { $0.sorted() } }
    func breakDown() { isBroken.withLock { $0 = true } }

    func lookUp(_ name: String) -> NameLookup {
      names.withLock { $0.append(name) }
      return isBroken.withLock { $0 } ? .failed("broken") : .addresses([.v4(0x7f00_0001)])
    }
  }

  init() throws {
    var configuration = TransferConfiguration()
    configuration.addressPolicy = AddressPolicy(allowing: [try Network(parsing: "127.0.0.0/8")])
    let mailbox = try Mailbox<NetworkWatch.ProbeResult>()
    self.mailbox = mailbox
    engine = TransferEngine(configuration: configuration, lookUp: lookups.lookUp)
    watch = NetworkWatch(configuration: configuration, engine: engine) { mailbox.post($0) }
  }

  private func end(_ host: String, url: String, isFailure: Bool = false, code: TransferError.Code = .connect) throws {
    var live = PhotoRecord(try .sample()).snapshot
    live.usage.isOwn = true
    if isFailure {
      live.failure = EntryFailure(TransferError(code, "refused"))
    } else {
      live.usage.contact = .answered(firstByte: nil, isMultiplexed: false)
    }
    _ = watch.downloadEnded(live, host: host, url: url, began: Clock.monotonicMilliseconds)
  }

  /// Waits until the probes that are under way have ended.
  private func takeResults(_ count: Int) {
    var taken = 0
    while taken < count {
      mailbox.wait()
      for result in mailbox.collect() {
        taken += 1
        watch.handle(result)
      }
    }
  }

  @Test(arguments: [3, 64, 65, 66, 200])
  func `however many hosts have answered, those that are probed can be`(hosts: Int) throws {
    let server = try PythonServer(PythonServer.prelude + "answer = lambda connection, path: None\nserve()")
    for host in 1...hosts { try end("h\(host).test", url: server.url("\(host)")) }
    for _ in 1...4 { try end("gone.test", url: "http://127.0.0.1:1/", isFailure: true) }
    watch.probe(isWanted: false)
    #expect(watch.detector.isChecking)
    takeResults(1)
    #expect(watch.mayStart && watch.reason == nil)
  }

  /// Has transfers know the addresses of names.
  private func resolve(_ names: [String]) async {
    for name in names {
      await withCheckedContinuation { continuation in
        engine.findAddresses(of: name, isAfresh: false) { _ in continuation.resume() }
      }
    }
  }

  @Test func `probes use the addresses that transfers know`() async throws {
    let server = try PythonServer(PythonServer.prelude + "answer = lambda connection, path: None\nserve()")
    let names = (1...3).map { "h\($0).test" }
    await resolve(names)
    for name in names { try end(name, url: "http://\(name):\(server.port)/") }
    for _ in 1...4 { try end("gone.test", url: "http://gone.test/", isFailure: true) }
    watch.probe(isWanted: false)
    takeResults(3)
    #expect(watch.mayStart && watch.reason == nil)
    #expect(lookups.asked == names)
  }

  @Test func `when names cannot be resolved any more a known address shows nothing`() async throws {
    let server = try PythonServer(PythonServer.prelude + "answer = lambda connection, path: None\nserve()")
    let names = (1...3).map { "h\($0).test" }
    await resolve(names)
    for name in names { try end(name, url: "http://\(name):\(server.port)/") }
    lookups.breakDown()
    for _ in 1...4 { try end("new.test", url: "http://new.test/", isFailure: true, code: .dns) }
    watch.probe(isWanted: false)
    takeResults(3)
    #expect(!watch.mayStart && watch.reason != nil)
    #expect(lookups.asked == (names + names).sorted())
  }

  @Test func `when no host can be probed there is no outage`() throws {
    for host in 1...3 { try end("h\(host).test", url: "no URL") }
    for _ in 1...4 { try end("gone.test", url: "http://127.0.0.1:1/", isFailure: true) }
    #expect(watch.isSuspect)
    watch.probe(isWanted: false)
    #expect(watch.mayStart && watch.reason == nil && !watch.isSuspect)
  }

  @Test func `when no host that is probed answers there is an outage until one does`() throws {
    let port = try LoopbackSocket.closedPort
    for host in 1...3 { try end("h\(host).test", url: "http://127.0.0.1:\(port)/") }
    for _ in 1...4 { try end("h1.test", url: "http://127.0.0.1:\(port)/", isFailure: true) }
    watch.probe(isWanted: false)
    takeResults(3)
    #expect(!watch.mayStart && watch.reason != nil && watch.isSuspect)
  }

  @Test(arguments: [
    ("img1.example.com", "example.com"), ("example.com", "example.com"), ("a.b.example.com", "example.com"),
    ("img.shop.co.uk", "shop.co.uk"), ("co.uk", "co.uk"), ("localhost", "localhost"), ("127.0.0.1", "127.0.0.1"),
    ("::1", "::1"), ("", ""),
  ])
  func `hosts of one owner have the same domain`(host: String, domain: String) {
    #expect(NetworkWatch.domain(of: host) == domain)
  }
}
