import Foundation
import TestSupport
import Testing

@testable import System

@Suite struct MessageDigestTests {
  @Test(
    "digests are those of the standards",
    arguments: [
      (MessageDigest.Algorithm.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (.md5, "900150983cd24fb0d6963f7d28e17f72"),
      (
        .sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
          + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
    ])
  func vectors(algorithm: MessageDigest.Algorithm, expected: String) {
    let digest = MessageDigest(algorithm)
    for piece in ["a", "", "bc"] { Array(piece.utf8).withUnsafeBytes { digest.update($0) } }
    #expect(digest.hexDigest() == expected)
    #expect(digest.hexDigest() == expected)
  }

  @Test(
    "authentication codes are those of RFC 4231, with a long key and with none",
    arguments: [
      ("what do ya want for nothing?", "Jefe", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
      (
        "Test Using Larger Than Block-Size Key - Hash Key First", String(repeating: "k", count: 131),
        "70e4b005732fa7ff79392aa24fb240159b925dbc9f1398420c0f45e6763dcf14"
      ),
      ("", "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad"),
    ])
  func codes(text: String, key: String, expected: String) {
    #expect(MessageDigest.hmac(of: text, key: key) == expected)
  }

  @Test("an open file is digested from its start, and its position stays")
  func descriptor() throws {
    let folder = try TemporaryFolder()
    let content = Data(repeating: 7, count: 700_000)
    try content.write(to: URL(fileURLWithPath: folder.file("a")))
    let descriptor = open(folder.file("a"), O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    lseek(descriptor, 5, SEEK_SET)
    let digest = MessageDigest()
    content.withUnsafeBytes { digest.update($0) }
    #expect(try MessageDigest.hexDigest(ofDescriptor: descriptor) == digest.hexDigest())
    #expect(lseek(descriptor, 0, SEEK_CUR) == 5)
    #expect(throws: SystemError.self) { try MessageDigest.hexDigest(ofDescriptor: -1) }
  }
}
