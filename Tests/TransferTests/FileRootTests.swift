import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite struct FileRootTests {
  enum Root: String, CaseIterable {
    case link = "alias"
    case folder = "root"
    case beneathLink = "above/root"
    case withDots = "root/sub/.."
    case withSlash = "root/"
  }

  /// A folder `root` with files, links and a pipe, and a file beside it.
  private final class Tree: Sendable {
    let folder: TemporaryFolder
    let downloads: Downloads

    /// - Parameter root: How the root is given.
    init(_ root: Root = .link, maxBytes: Int = 1 << 20) throws {
      let name = root.rawValue
      let folder = try TemporaryFolder()
      let files = FileManager.default
      let root = folder.file("root")
      for name in ["root/sub", "root-beside"] {
        try files.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
      }
      for name in ["root/a b.jpg", "root/a..b.jpg", "root/sub/c.jpg", "root-beside/secret.jpg", "secret.jpg"] {
        try Data(name.utf8).write(to: URL(fileURLWithPath: folder.file(name)))
      }
      try files.createSymbolicLink(atPath: root + "/inward", withDestinationPath: root + "/sub/c.jpg")
      try files.createSymbolicLink(atPath: root + "/outward", withDestinationPath: "../secret.jpg")
      try files.createSymbolicLink(atPath: root + "/loop", withDestinationPath: "loop")
      try files.createSymbolicLink(atPath: root + "/up", withDestinationPath: "..")
      try files.createSymbolicLink(atPath: folder.file("alias"), withDestinationPath: "root")
      try files.createSymbolicLink(atPath: folder.file("above"), withDestinationPath: ".")
      mkfifo(root + "/fifo", 0o600)
      self.folder = folder
      downloads = try Downloads {
        $0.fileRoot = folder.file(name)
        $0.maxBytes = maxBytes
      }
    }
  }

  @Test(
    "files beneath the root are copied, with their digest",
    arguments: [
      "a b.jpg", "a..b.jpg", "sub/c.jpg", "sub/../a b.jpg", "inward", "file://ROOT/a%20b.jpg", "file:ROOT/sub/c.jpg",
      "ROOT/sub/c.jpg", "up/root/a b.jpg",
    ], Root.allCases)
  func inside(text: String, root: Root) async throws {
    let tree = try Tree(root)
    let (result, body) = try await tree.downloads.fetch(
      text.replacingOccurrences(of: "ROOT", with: tree.folder.file("root")))
    let outcome = try result.get()
    let digest = MessageDigest()
    body.withUnsafeBytes { digest.update($0) }
    #expect(String(decoding: body, as: UTF8.self).hasPrefix("root/"))
    #expect(outcome.bytes == body.count)
    #expect(outcome.sha256 == digest.hexDigest())
    #expect(outcome.httpStatus == nil)
  }

  @Test(
    "nothing outside of the root is read",
    arguments: [
      ("../secret.jpg", TransferError.Code.addressNotAllowed), ("outward", .addressNotAllowed),
      ("up/secret.jpg", .addressNotAllowed), ("FOLDER/secret.jpg", .addressNotAllowed),
      ("FOLDER/root-beside/secret.jpg", .addressNotAllowed), ("file:///etc/passwd", .addressNotAllowed),
      ("file:FOLDER/root/../secret.jpg", .addressNotAllowed), ("/dev/zero", .addressNotAllowed),
      ("fifo", .fileNotFound), ("missing.jpg", .fileNotFound), ("a b.jpg/x", .fileNotFound), ("sub", .fileNotFound),
      (".", .fileNotFound), ("loop", .fileNotFound), (String(repeating: "x", count: 300), .fileNotFound),
    ], Root.allCases)
  func outside(_ file: (text: String, code: TransferError.Code), root: Root) async throws {
    let ((text, code), tree) = (file, try Tree(root))
    let (error, body) = try await tree.downloads.failure(
      text.replacingOccurrences(of: "FOLDER", with: tree.folder.path))
    #expect(error?.code == code, "\(error?.message ?? "allowed")")
    #expect(error?.isRetryable == false)
    #expect(body.isEmpty)
    if code == .addressNotAllowed { #expect(error?.message.contains("--file-root") == true) }
  }

  @Test("without a root no file is read, and the message names the option")
  func noRoot() async throws {
    let tree = try Tree()
    let (error, _) = try await Downloads().failure(tree.folder.file("root/sub/c.jpg"))
    #expect(error?.code == .schemeNotAllowed)
    #expect(error?.message.contains("--file-root") == true)
  }

  @Test("the size limit holds for files")
  func tooLarge() async throws {
    let tree = try Tree(maxBytes: 3)
    let (error, body) = try await tree.downloads.failure("sub/c.jpg")
    #expect(error?.code == .tooLarge)
    #expect(error?.message == "--max-bytes is 3 bytes; sub/c.jpg announces more: 14 bytes")
    #expect(body.isEmpty)
  }
}
