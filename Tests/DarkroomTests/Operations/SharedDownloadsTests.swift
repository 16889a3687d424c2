import Foundation
import System
import Testing
import TestSupport
import Transfer

@testable import Model
@testable import Operations

@Suite(.blocking) struct SharedDownloadsTests {
  /// Starts one download that the server holds back, and others that wait for it.
  private func start(
    _ count: Int, memory: Int = 1 << 20
  ) throws -> (chains: Chains, server: GatedServer, records: [PhotoRecord]) {
    let (chains, server) = (
      try Chains(downloads: 16, memory: memory), try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    )
    let first = try chains.start(0, url: server.url("a"))
    #expect(try server.nextRequest() == "/a")
    let others = try (1..<count).map { try chains.start($0, url: server.url("a")) }
    // The condition is what is waited for; a thread that spins would keep the others from getting there.
    while chains.pending.shared.downloads.waitingCount < count - 1 { usleep(200) }
    return (chains, server, [first] + others)
  }

  @Test(arguments: [0, 1 << 20])
  func `what several entries want is asked for once, and each gets a file of its own`(memory: Int) throws {
    let (chains, server, records) = try start(8, memory: memory)
    try server.release(1)
    #expect(Set(chains.ended(8).map(\.state)) == [.filtered])
    #expect(Set(records.compactMap { $0.artifacts[.result]?.delivery.sha256 }).count == 1)
    #expect(records.map { $0.snapshot.source?.isCoalesced } == [false] + Array(repeating: true, count: 7))
    #expect(records.map { $0.snapshot.usage.requests.sent } == [1] + Array(repeating: 0, count: 7))
    let inodes = try chains.staged.map { try FileStatus(of: chains.staging.path($0)).identity.inode }
    #expect(Set(inodes).count == 8, "whoever changes one changes no other")
  }

  @Test(arguments: [0, 1 << 20])
  func `one that needs a file gets it from one that needs none, and the other way round`(memory: Int) throws {
    let (chains, server, records) = try start(2, memory: memory)
    chains.configure { $0.keepOriginals = true }
    let keeping = try chains.start(2, url: server.url("a"))
    let leading = try chains.start(3, url: server.url("b"))
    #expect(try server.nextRequest() == "/b")
    chains.configure { $0.keepOriginals = false }
    let following = try chains.start(4, url: server.url("b"))
    while chains.pending.shared.downloads.waitingCount < 3 { usleep(200) }
    try server.release(2)
    #expect(Set(chains.ended(5).map(\.state)) == [.filtered])
    let entries = records + [keeping, leading, following]
    #expect(entries.map { $0.artifacts[.original] != nil } == [false, false, true, true, false])
    #expect(Set(entries.compactMap { $0.artifacts[.result]?.delivery.sha256 }).count == 1)
  }

  @Test func `cancelling one that waits leaves the others`() throws {
    let (chains, server, records) = try start(4)
    records[2].cancel()
    chains.operations(of: 2)?.download.cancel()
    #expect(chains.ended(1).map(\.entry.position) == [2])
    try server.release(1)
    #expect(Set(chains.ended(3).map(\.state)) == [.filtered])
    #expect(records[2].state == .cancelled)
  }

  @Test func `cancelling the one that asks has another ask, and each ends once`() throws {
    let (chains, server, records) = try start(4)
    records[0].cancel()
    chains.operations(of: 0)?.download.cancel()
    #expect(try server.nextRequest() == "/a")
    try server.release(2)
    #expect(Set(chains.ended(4).map(\.entry.position)) == [0, 1, 2, 3])
    #expect(records.map(\.state) == [.cancelled, .filtered, .filtered, .filtered])
    #expect(chains.more().isEmpty)
  }

  @Test(arguments: 0..<20)
  func `cancelled while the answer comes, each ends once`(_: Int) throws {
    let (chains, server, records) = try start(6)
    try server.release(1)
    for (position, record) in records.enumerated() where position % 2 == 0 {
      record.cancel()
      chains.operations(of: position)?.download.cancel()
    }
    // A second request may come, when the first was cancelled in time.
    try server.release(5)
    #expect(Set(chains.ended(6).map(\.entry.position)) == Set(0..<6))
    #expect(records.allSatisfy { $0.state == .filtered || $0.state == .cancelled })
    #expect(chains.more().isEmpty)
  }

  @Test(arguments: [false, true])
  func `one that runs out of its own time has others ask, which have theirs, unless that may have had effects`(
    isPost: Bool
  ) throws {
    let chains = try Chains(downloads: 16)
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    func start(_ position: Int, timeLeft: Duration?) throws -> PhotoRecord {
      let request = isPost ? try SourceRequest(method: .post, headers: [], content: nil) : .plain
      return chains.start(try Entry.sample(position, url: server.url("a"), request: request), timeLeft: timeLeft)
    }
    let first = try start(0, timeLeft: .seconds(5))
    #expect(try server.nextRequest() == "/a")
    let others = try [Duration.seconds(3600), nil].enumerated().map { try start(1 + $0, timeLeft: $1) }
    while chains.pending.shared.downloads.waitingCount < 2, first.state == .new { usleep(200) }
    try #require(first.state == .new, "the others did not begin in time")
    let ended = chains.ended(isPost ? 3 : 1).count
    #expect(first.snapshot.failure?.code.text == "timeout")
    guard !isPost else { return #expect(others.allSatisfy { $0.snapshot.failure?.code.text == "timeout" }) }
    #expect(try server.nextRequest() == "/a")
    try server.release(3)
    _ = chains.ended(3 - ended)
    #expect(others.map(\.state) == [.filtered, .filtered])
  }

  @Test func `a failure is everybody's`() throws {
    let chains = try Chains(downloads: 16)
    let records = try (0..<4).map { try chains.start($0, url: "http://10.0.0.1/a") }
    #expect(Set(chains.ended(4).map(\.state)) == [.failed])
    #expect(records.allSatisfy { $0.snapshot.failure?.code.text == "address-not-allowed" })
  }
}
