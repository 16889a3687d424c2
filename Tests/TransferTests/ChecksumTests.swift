import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct ChecksumTests {
  private static let hello = [
    "sha-256=2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    "sha-512=9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca7"
      + "2323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
    "sha-1=aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d",
    "md5=5d41402abc4b2a76b9719d911017c592",
  ]

  @Test("a checksum is read in either case and written in lower case", arguments: hello)
  func parsing(text: String) throws {
    #expect(try Checksum(parsing: text).description == text)
    let equals = try #require(text.firstIndex(of: "="))
    #expect(try Checksum(parsing: text[..<equals] + text[equals...].uppercased()).description == text)
  }

  @Test(
    "what is no checksum is refused with what would be one",
    arguments: [
      ("", "a checksum is TYPE=HEX, such as sha-256=e3b0c442…, not \"\""),
      ("5d41402abc4b2a76b9719d911017c592", "a checksum is TYPE=HEX"),
      ("sha256=00", "unknown checksum type \"sha256\"; there are sha-256, sha-512, sha-1, md5"),
      ("=", "unknown checksum type \"\""),
      ("md5=", "a md5 digest has 32 hexadecimal digits; \"\" is not one"),
      ("md5=5d41402abc4b2a76b9719d911017c59", "a md5 digest has 32 hexadecimal digits"),
      ("md5=5d41402abc4b2a76b9719d911017c5920", "a md5 digest has 32 hexadecimal digits"),
      ("md5=5d41402abc4b2a76b9719d911017c59g", "a md5 digest has 32 hexadecimal digits"),
      ("md5= 5d41402abc4b2a76b9719d911017c592", "a md5 digest has 32 hexadecimal digits"),
      ("md5=5d41402abc4b2a76b9719d911017c５９２", "a md5 digest has 32 hexadecimal digits"),
    ])
  func malformed(text: String, message: String) {
    let error = #expect(throws: ParseError.self) { try Checksum(parsing: text) }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }

  @Test("bytes that have the checksum are accepted, and their SHA-256 is known, too", arguments: hello)
  func matching(text: String) async throws {
    let server = try FaultServer.shared
    let (result, body) = try await Downloads().fetch(server.url("ok"), checksum: Checksum(parsing: text))
    #expect(try "sha-256=" + result.get().sha256 == Self.hello[0])
    #expect(body == Data("hello".utf8))
  }

  @Test("bytes that have another are refused, and both are named", arguments: hello, ["http", "file"])
  func mismatch(text: String, scheme: String) async throws {
    let wrong = try Checksum(parsing: text.dropLast() + (text.hasSuffix("0") ? "1" : "0"))
    let server = try FaultServer.shared
    let folder = try TemporaryFolder()
    try "hello".write(toFile: folder.file("ok"), atomically: false, encoding: .utf8)
    let downloads = try Downloads { $0.fileRoot = folder.path }
    let (result, _) = try await downloads.fetch(scheme == "file" ? "ok" : server.url("ok"), checksum: wrong)
    guard case .failure(let error) = result else {
      Issue.record("accepted")
      return
    }
    #expect(error.code == .checksumMismatch)
    #expect(!error.isRetryable)
    #expect(error.message.contains(wrong.description))
    #expect(error.message.contains(text))
    #expect(scheme == "file" || error.bytes == 5)
  }
}
