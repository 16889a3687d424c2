import Foundation
import TestSupport
import Testing

@testable import Transfer

/// What arrives over TLS beyond what was announced.
@Suite(.blocking) struct ExcessTests {
  private static let versions = RecordServer.versions

  private func downloads() throws -> Downloads {
    try Downloads { $0.certificateFile = try Certificates.shared.authority }
  }

  @Test(
    "a body that is longer than announced is truncated, in whatever record the rest lies",
    arguments: versions, ["one-record", "record-after-header", "later-record", "later-record-of-whole-answer"])
  func excess(version: String, path: String) async throws {
    let server = try RecordServer.shared(version: version)
    let downloads = try downloads()
    let (error, body) = try await downloads.failure(server.url(path, scheme: "https"))
    #expect(error?.code == .truncated)
    #expect(body == Data("hello".utf8))
    let next = try await downloads.fetch(server.url("exact", scheme: "https"))
    #expect(try next.result.get().requests.reused == 0, "the rest is not taken for an answer")
    #expect(next.body == Data("hello".utf8))
  }

  @Test("the notice that the other side closes is no excess", arguments: versions)
  func closeNotify(version: String) async throws {
    let server = try RecordServer.shared(version: version)
    let downloads = try downloads()
    for _ in 0..<3 {
      let (result, body) = try await downloads.fetch(server.url("exact-and-close", scheme: "https"))
      #expect(try result.get().bytes == 5)
      #expect(body == Data("hello".utf8))
    }
  }

  @Test("a connection that answered exactly is used again", arguments: versions)
  func reuse(version: String) async throws {
    let server = try RecordServer.shared(version: version)
    let downloads = try downloads()
    let groups = try await downloads.fetch(server.url("exact", scheme: "https"), inGroupsOf: [1, 1, 1, 1, 1])
    #expect(try groups.map { try $0[0].result.get().requests.reused } == [0, 1, 1, 1, 1])
    for group in groups { #expect(group[0].body == Data("hello".utf8)) }
  }

  @Test("what a server sends after its answer is not taken for the next one", arguments: versions)
  func poisoned(version: String) async throws {
    let server = try RecordServer.start(version: version)
    let downloads = try downloads()
    #expect(try await downloads.fetch(server.url("poisoned", scheme: "https")).body == Data("hello".utf8))
    #expect(try server.nextLine() == "poisoned")
    let (result, body) = try await downloads.fetch(server.url("exact", scheme: "https"))
    #expect(body == Data("hello".utf8))
    #expect(try result.get().requests.reused == 0)
  }

  @Test("no answer is taken from a connection on which something has begun to arrive", arguments: versions)
  func begun(version: String) async throws {
    let server = try RecordServer.shared(version: version)
    let downloads = try downloads()
    let first = try await downloads.fetch(server.url("exact-and-half-a-record", scheme: "https"))
    #expect(first.body == Data("hello".utf8))
    let (result, body) = try await downloads.fetch(server.url("exact", scheme: "https"))
    #expect(body == Data("hello".utf8))
    #expect(try result.get().requests == RequestCount(sent: 2, reused: 1), "it is sent again over a new one")
  }
}
