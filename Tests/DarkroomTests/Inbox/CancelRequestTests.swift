import Glibc
import System
import Testing
import TestSupport

@testable import Inbox

@Suite struct CancelRequestTests {
  private let folder: TemporaryFolder
  private let inbox: Inbox

  init() throws {
    folder = try TemporaryFolder()
    inbox = try Inbox(path: folder.path, extraLock: nil)
  }

  @Test func `a scan finds requests, which are neither manifests nor reported`() throws {
    let key = CancelRequest.key(ofManifest: "a.txt", identity: "1 2 3")
    for name in [CancelRequest.name("20260101T000000Z-00000000"), CancelRequest.name(key), CancelRequest.prefix] {
      try folder.write("", as: name)
    }
    let scan = try inbox.scan()
    #expect(scan.cancelled == ["20260101T000000Z-00000000", key])
    #expect(scan.manifests.isEmpty && scan.ignored.isEmpty && scan.locks.isEmpty)
  }

  @Test func `a manifest is asked for as it is, and not one that takes its name`() {
    let key = CancelRequest.key(ofManifest: "a.txt", identity: "1 2 3")
    #expect(key != CancelRequest.key(ofManifest: "a.txt", identity: "1 2 4"))
    #expect(key != CancelRequest.key(ofManifest: "b.txt", identity: "1 2 3"))
    #expect(key.utf8.count == 32)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func `where the sticky bit is set only who may remove the manifest may ask`() throws {
    try folder.write("http://h/a", as: "a.txt")
    try folder.write("", as: CancelRequest.name("k"))
    func isAllowed(_ owner: uid_t, sticky: Bool = true, manifest: String? = "a.txt") -> Bool {
      chmod(folder.path, sticky ? 0o1777 : 0o777)
      chown(folder.file(CancelRequest.name("k")), owner, 0)
      return CancelRequest.isAllowed("k", manifest: manifest, in: inbox.folder)
    }
    chown(folder.path, 4, 0)
    chown(folder.file("a.txt"), 2, 0)
    #expect(isAllowed(0) && isAllowed(2) && isAllowed(4) && !isAllowed(3))
    #expect(isAllowed(3, sticky: false))
    #expect(!isAllowed(2, manifest: nil) && isAllowed(0, manifest: nil))
    #expect(!CancelRequest.isAllowed("none", manifest: nil, in: inbox.folder))
    try folder.makeFolder(CancelRequest.name("folder"))
    #expect(!CancelRequest.isAllowed("folder", manifest: nil, in: inbox.folder))
  }
}
