import Foundation
import TestSupport
import Testing

@testable import Transfer

/// What arrives over TLS beyond what was announced.
@Suite struct ExcessTests {
  private static let versions = ["TLSv1_2", "TLSv1_3"]

  private let certificates: Certificates

  init() throws { certificates = try Certificates() }

  private func downloads() throws -> Downloads { try Downloads { $0.certificateFile = certificates.authority } }

  @Test(
    "a body that is longer than announced is truncated, in whatever record the rest lies",
    arguments: versions, ["one-record", "record-after-header", "later-record", "later-record-of-whole-answer"])
  func excess(version: String, path: String) async throws {
    let server = try RecordServer.start(certificates, version: version)
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
    let server = try RecordServer.start(certificates, version: version)
    let downloads = try downloads()
    for _ in 0..<3 {
      let (result, body) = try await downloads.fetch(server.url("exact-and-close", scheme: "https"))
      #expect(try result.get().bytes == 5)
      #expect(body == Data("hello".utf8))
    }
  }

  @Test("a connection that answered exactly is used again", arguments: versions)
  func reuse(version: String) async throws {
    let server = try RecordServer.start(certificates, version: version)
    let downloads = try downloads()
    var reused = 0
    for _ in 0..<5 {
      let (result, body) = try await downloads.fetch(server.url("exact", scheme: "https"))
      reused += try result.get().requests.reused
      #expect(body == Data("hello".utf8))
    }
    // libcurl gives up a connection that lay idle for two minutes, as it may while many tests run at once.
    #expect((1...4).contains(reused))
  }

  @Test("what a server sends after its answer is not taken for the next one", arguments: versions)
  func poisoned(version: String) async throws {
    let server = try RecordServer.start(certificates, version: version)
    let downloads = try downloads()
    #expect(try await downloads.fetch(server.url("poisoned", scheme: "https")).body == Data("hello".utf8))
    #expect(try server.nextLine() == "poisoned")
    let (result, body) = try await downloads.fetch(server.url("exact", scheme: "https"))
    #expect(body == Data("hello".utf8))
    #expect(try result.get().requests.reused == 0)
  }

  @Test("a connection on which something has begun to arrive is not used again", arguments: versions)
  func begun(version: String) async throws {
    let server = try RecordServer.start(certificates, version: version)
    let downloads = try downloads()
    let first = try await downloads.fetch(server.url("exact-and-half-a-record", scheme: "https"))
    #expect(first.body == Data("hello".utf8))
    let (result, body) = try await downloads.fetch(server.url("exact", scheme: "https"))
    #expect(body == Data("hello".utf8))
    #expect(try result.get().requests.reused == 0)
  }
}
