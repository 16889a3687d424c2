import Foundation
import System
import Testing
import TestSupport

@testable import Model

@Suite struct ResultFoldersTests {
  private let outbox: Outbox
  private let elsewhere: TemporaryFolder

  init() throws {
    outbox = try Outbox()
    elsewhere = try TemporaryFolder()
    try elsewhere.write("precious", as: "a.jpg")
    try outbox.root.makeFolder("out/job/images/sub")
    for name in ["images/a.jpg", "images/sub/a.jpg", "a.jpg"] { try outbox.write("ours", to: name) }
  }

  private func identity(_ target: String, _ folders: ResultFolders) throws -> FileIdentity? {
    try folders.status(of: target, in: outbox.folder)?.identity
  }

  /// Puts a folder of the job elsewhere, and a symbolic link to it in its place.
  private func link(_ name: String) throws {
    try Folder.rename(outbox.folder.file(name), to: elsewhere.file("moved"))
    try outbox.root.link("out/job/" + name, to: elsewhere.file("moved"))
  }

  @Test(arguments: ["images/a.jpg", "images/sub/a.jpg", "a.jpg"])
  func `a file has the identity that its path has, and what is missing has none`(target: String) throws {
    let folders = ResultFolders(period: 1_000_000)
    for _ in 0..<2 {
      #expect(try identity(target, folders) == FileStatus(of: outbox.folder.file(target)).identity)
      #expect(try identity(target + ".missing", folders) == nil)
    }
    #expect(try identity("images/missing/a.jpg", folders) == nil)
    try outbox.root.link("out/job/images/link.jpg", to: "a.jpg")
    #expect(try folders.status(of: "images/link.jpg", in: outbox.folder)?.kind == .link)
  }

  @Test(arguments: ["images", "images/sub"])
  func `a folder that became a symbolic link is not followed once it is opened again`(name: String) throws {
    let (folders, held) = (ResultFolders(period: 0), ResultFolders(period: 1_000_000))
    let before = try identity("images/sub/a.jpg", folders)
    #expect(try before != nil && identity("images/sub/a.jpg", held) == before)
    try link(name)
    #expect(throws: SystemError.self) { try identity("images/sub/a.jpg", folders) }
    // The folder itself, wherever it is by now: no link was followed.
    #expect(try identity("images/sub/a.jpg", held) == before)
  }

  @Test func `of many folders the last are held, and each file is found`() throws {
    let folders = ResultFolders(period: 1_000_000)
    for _ in 0..<2 {
      for number in 0..<200 {
        let name = "images/\(number)"
        if !FileManager.default.fileExists(atPath: outbox.folder.file(name)) {
          try outbox.root.makeFolder("out/job/" + name)
          try outbox.write("x", to: name + "/a.jpg")
        }
        #expect(try identity(name + "/a.jpg", folders) == FileStatus(of: outbox.folder.file(name + "/a.jpg")).identity)
      }
    }
    // Other tests run meanwhile, and have files open, too.
    let held = try Folder.names(in: "/proc/self/fd").compactMap(\.text).filter { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
      return target?.hasPrefix(outbox.folder.file("images/")) == true
    }
    #expect(held.count == ResultFolders.limit)
  }
}
