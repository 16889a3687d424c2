import Dispatch
import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Darkroom

/// Which process does a shard.
@Suite struct ShardClaimTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func now() throws(SystemError) -> Double { try ShardClaim.serverTime(in: OpenFolder(folder.path)) }

  private func take(timeout: Double = 1, isLocked: Bool = false) throws -> ShardClaim? {
    if case .taken(let claim) = try ShardClaim.take(folder.path, timeout: timeout, isLocked: { isLocked }, now: now) {
      claim
    } else {
      nil
    }
  }

  /// The claims' files, as if another machine had written them so many seconds ago.
  private func age(_ name: String, seconds: Double) throws {
    try folder.text(name)?.replacing(#""machine":""#, with: #""machine":"other "#)
      .write(toFile: folder.file(name), atomically: false, encoding: .utf8)
    try FileManager.default.setAttributes(
      [.modificationDate: Date.now.addingTimeInterval(-seconds)], ofItemAtPath: folder.file(name))
  }

  @Test func `of many processes one takes a shard, and another once it is given back`() throws {
    let claims = Mutex<[ShardClaim]>([])
    DispatchQueue.concurrentPerform(iterations: 32) { _ in
      if let claim = try? take() { claims.withLock { $0.append(claim) } }
    }
    let taken = claims.withLock { $0 }
    #expect(taken.count == 1)
    taken.first?.release()
    #expect(try ShardClaim.current(folder.path) == nil)
    #expect(try take() != nil)
  }

  @Test func `a claim that was not renewed for too long is taken over, and its holder notices`() throws {
    let first = try #require(try take(timeout: 40))
    try age("claim-1", seconds: 30)
    #expect(try take() == nil, "its holder may take so long")
    #expect(try ShardClaim.current(folder.path)?.holder.contains("(process ") == true)
    try age("claim-1", seconds: 50)
    #expect(first.renew())
    #expect(try take() == nil, "it was renewed just now")
    try age("claim-1", seconds: 50)
    #expect(try take(isLocked: true) == nil, "its holder lives")
    let second = try #require(try take(timeout: 40))
    #expect(!first.renew() && second.renew())
    first.release()
    #expect(try ShardClaim.current(folder.path)?.number == 2, "only its holder gives it back")
    #expect(try folder.names().filter { !$0.hasPrefix(".") } == ["claim-2"])
  }

  @Test func `names and times that no process writes are no claims, or claims for a day at most`() throws {
    let names = [
      "claim-07", "claim-+7", "claim-", "claim-\(Int.max)", "claim--1", "claim-0", "claim-99999999999999999999",
    ]
    for name in names { _ = try folder.write("", as: name) }
    let claim = try #require(try take())
    #expect(claim.renew() && folder.text("claim-1") != nil)
    claim.release()
    _ = try folder.write(#"{"timeout":1e300,"machine":""}"#, as: "claim-7")
    try age("claim-7", seconds: 80_000)
    #expect(try take() == nil)
    try age("claim-7", seconds: 90_000)
    #expect(try take()?.renew() == true)
  }

  @Test func `a claim that no other can follow is an error that names its file`() throws {
    let name = "claim-\(Int.max - 1)"
    _ = try folder.write(#"{"timeout":1,"machine":""}"#, as: name)
    #expect(try take(timeout: 40) == nil, "its holder may take so long")
    try age(name, seconds: 50)
    let error = try #require(throws: SystemError.self) { try take() }
    #expect(error.path == folder.file(name) && error.cause == .occupied, "\(error)")
    #expect(error.description.contains("remove it, if no process does the shard"), "\(error)")
    #expect(try folder.names().filter { !$0.hasPrefix(".") } == [name])
    try FileManager.default.removeItem(atPath: folder.file(name))
    _ = try folder.write(#"{"machine":""}"#, as: "claim-\(Int.max - 2)")
    try age("claim-\(Int.max - 2)", seconds: 50)
    #expect(try take()?.renew() == true)
    #expect(try folder.names().filter { !$0.hasPrefix(".") } == [name])
  }

  @Test func `a claim that was renewed too late is lost`() throws {
    let claim = try #require(try take(timeout: 0))
    #expect(!claim.renew())
  }

  @Test func `of many processes one takes over a claim`() throws {
    _ = try take(timeout: 40)
    try age("claim-1", seconds: 50)
    let count = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 32) { _ in
      if (try? take(timeout: 40)) != nil { count.withLock { $0 += 1 } }
    }
    #expect(count.withLock { $0 } == 1)
  }
}
