import Glibc
import System
import TestSupport
import Testing

@testable import Darkroom

@Suite struct LockFileTests {
  private let folder: TemporaryFolder
  private let lock: LockFile
  private var inbox: OpenFolder { get throws { try OpenFolder(folder.file("inbox")) } }

  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("inbox")
    lock = LockFile(inbox: folder.file("inbox"), name: "x.lock")
  }

  /// What somebody who may write to the inbox does to the name between a look at it and the next step.
  enum Exchange: CaseIterable { case hardLink, symbolicLink, otherFile, secondName, nothing, gone }

  @Test(arguments: Exchange.allCases)
  func `a reason is written into the file that was found, and into no other`(exchange: Exchange) throws {
    let (path, precious) = (folder.file("inbox/x.lock"), try folder.write("precious", as: "precious"))
    try folder.write("old", as: "inbox/x.lock")
    let found = try #require(try inbox.status(of: "x.lock"))
    // The file is kept, so that its inode is nobody else's.
    if [.hardLink, .symbolicLink, .otherFile].contains(exchange) { try Folder.rename(path, to: folder.file("kept")) }
    switch exchange {
    case .hardLink: #expect(link(precious, path) == 0)
    case .symbolicLink: #expect(symlink(precious, path) == 0)
    case .otherFile: try folder.write("theirs", as: "inbox/x.lock")
    case .secondName: #expect(link(path, folder.file("second")) == 0)
    case .nothing: break
    case .gone: try Folder.removeFile(path)
    }
    #expect(try lock.rewrite("new\n", in: inbox, found) == (exchange == .nothing))
    #expect(folder.text("precious") == "precious")
    switch exchange {
    case .hardLink, .symbolicLink: break
    case .otherFile: #expect(folder.text("inbox/x.lock") == "theirs")
    case .secondName: #expect(folder.text("second") == "old")
    case .nothing: #expect(folder.text("inbox/x.lock") == "new\n")
    case .gone: #expect(try !FileStatus.exists(path), "it is not made without its reason")
    }
  }

  @Test func `a lock keeps its reason, and gets one if it has none`() throws {
    #expect(try lock.create(reason: nil) == .made)
    #expect(try lock.create(reason: "first") == .found)
    #expect(folder.text("inbox/x.lock") == "first\n")
    #expect(try lock.create(reason: "second") == .foundReason("first"))
    #expect(try lock.create(reason: "first") == .found && lock.create(reason: nil) == .found)
    #expect(folder.text("inbox/x.lock") == "first\n")
  }

  @Test func `a lock that has another name elsewhere is replaced, and that file stays`() throws {
    let precious = try folder.write("", as: "precious")
    #expect(link(precious, folder.file("inbox/x.lock")) == 0)
    #expect(try lock.create(reason: "backup") == .found)
    #expect(folder.text("precious") == "" && folder.text("inbox/x.lock") == "backup\n")
  }
}
