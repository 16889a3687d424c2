import Foundation
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct ValidatorTests {
  private let folder: TemporaryFolder
  private let nginx: Nginx
  private let downloads: Downloads

  init() throws {
    folder = try TemporaryFolder()
    nginx = try Nginx(
      serving: folder.path,
      directives: """
        location /moved { return 302 /a; }
        location /elsewhere { return 302 /b; }
        location /private { alias \(folder.file("a")); add_header Cache-Control "private, No-Store"; }
        location /bare { alias \(folder.file("a")); etag off; add_header Last-Modified ""; }
        location /dated { alias \(folder.file("a")); etag off; }
        """)
    downloads = try Downloads()
    for name in ["a", "b"] { try write("hello", to: name) }
  }

  private func write(_ text: String, to name: String) throws {
    try text.write(toFile: folder.file(name), atomically: false, encoding: .utf8)
  }

  /// The statuses that the server answered with.
  private func statuses() throws -> [String] {
    try nginx.accessLog().map { String($0.split(separator: " ")[8]) }
  }

  @Test("a source that has not changed is not sent again", arguments: ["a", "moved", "dated"])
  func unchanged(path: String) async throws {
    let first = try await downloads.fetch(nginx.url(path)).result.get()
    #expect(first.mayBeStored && !first.isNotModified)
    let (result, body) = try await downloads.fetch(nginx.url(path), validators: first.validators)
    let second = try result.get()
    #expect(second.isNotModified && second.bytes == 0 && body.isEmpty)
    #expect(second.validators == first.validators)
    // nginx writes its log after the answer.
    let statuses = try eventually({ try self.statuses() }, is: { $0.last == "304" })
    #expect(statuses.last == "304", "\(statuses)")
  }

  @Test("a source that has changed is sent")
  func changed() async throws {
    let validators = try await downloads.fetch(nginx.url("a")).result.get().validators
    try write("hello again", to: "a")
    let (result, body) = try await downloads.fetch(nginx.url("a"), validators: validators)
    #expect(try result.get().httpStatus == 200)
    #expect(String(decoding: body, as: UTF8.self) == "hello again")
    #expect(try result.get().validators != validators)
  }

  @Test("validators are only shown to the URL that gave them", arguments: ["b", "elsewhere"])
  func elsewhere(path: String) async throws {
    // Same content, same size, same second: nginx gives both files the same validators.
    let time = Date(timeIntervalSince1970: 1_000_000_000)
    for name in ["a", "b"] {
      try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: folder.file(name))
    }
    let validators = try await downloads.fetch(nginx.url("a")).result.get().validators
    let (result, body) = try await downloads.fetch(nginx.url(path), validators: validators)
    #expect(try result.get().httpStatus == 200)
    #expect(!body.isEmpty)
  }

  @Test("within a scope validators are sent to another URL, and never beyond it or after a redirect")
  func scope() async throws {
    let first = try await downloads.fetch(nginx.url("a?signed=1"), scope: "key 1").result.get()
    let cases = [
      ("a?signed=2", "key 1", true), ("a?signed=2", "key 2", false), ("a?signed=1", nil, false),
      ("moved", "key 1", false),
    ]
    for (path, scope, isSent) in cases {
      let (result, _) = try await downloads.fetch(nginx.url(path), validators: first.validators, scope: scope)
      #expect(try result.get().isNotModified == isSent, "\(path) \(scope ?? "")")
    }
    // What was reached by a redirect belongs to its URL, as without a scope.
    let moved = try await downloads.fetch(nginx.url("moved"), scope: "key 1").result.get().validators
    #expect(try await downloads.fetch(nginx.url("a")).result.get().validators == moved)
    let again = try await downloads.fetch(nginx.url("moved"), validators: moved, scope: "key 9").result.get()
    #expect(again.isNotModified)
  }

  @Test("a server may forbid storing, and may give no validators")
  func absent() async throws {
    let secret = try await downloads.fetch(nginx.url("private")).result.get()
    #expect(!secret.mayBeStored)
    let bare = try await downloads.fetch(nginx.url("bare")).result.get()
    #expect(bare.mayBeStored && bare.validators == nil)
  }

  @Test(
    "validators that could not be sent back as they came are none",
    arguments: ["\"\u{e9}\"", "", "   ", String(repeating: "x", count: 1025)])
  func odd(etag: String) {
    var header = ResponseHeader()
    for line in ["HTTP/1.1 200 OK\r\n", "ETag: \(etag)\r\n", "\r\n"] {
      Array(line.utf8).withUnsafeBytes { _ = header.parse($0) }
    }
    #expect(header.validators(of: "http://h/") == nil)
  }
}
